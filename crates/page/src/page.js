"use strict";
// Tables: buttons in the head sort, a field above filters.
for (const table of document.querySelectorAll("table.sorts")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  heads.forEach((head, at) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [value(row, at), row]);
      // Numbers go before texts, and what is empty comes last either way.
      const rank = (x) => (x === "" ? 2 : typeof x === "number" ? 0 : 1);
      const order = new Intl.Collator("en", { numeric: true }).compare;
      rows.sort(([a], [b]) => {
        if (rank(a) !== rank(b)) return rank(a) - rank(b);
        const less = typeof a === "number" ? a - b : order(a, b);
        return down ? -less : less;
      });
      body.append(...rows.map(([, row]) => row));
    });
  });
  const field = document.getElementById(table.dataset.filter);
  const count = document.getElementById(table.dataset.count);
  if (!field) continue;
  const texts = new Map([...body.rows].map((row) => [row, row.textContent.toLowerCase()]));
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter((word) => word);
    let shown = 0;
    for (const [row, text] of texts) {
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    count.textContent = `${shown} of ${texts.size} rows`;
  });
}
// A link to a run opens it.
function open() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") {
    target.open = true;
    target.querySelector("summary").focus();
    target.scrollIntoView();
  }
}
addEventListener("hashchange", open);
open();
// Films: the state after each step, forwards and backwards.
function start(film) {
  const states = JSON.parse(document.getElementById(film.dataset.states).textContent);
  const rows = [...film.querySelectorAll(".steps tbody tr")];
  const cells = [...film.querySelectorAll(".state td")];
  const told = film.querySelector("output");
  const scene = film.querySelector(".scene");
  const svg = scene && scene.querySelector("svg");
  const pictures = svg && JSON.parse(document.getElementById(svg.dataset.pictures).textContent);
  // The picture of a state; a long run has none of its last states.
  function draw(picture) {
    scene.hidden = !picture;
    if (!picture) return;
    const shapes = picture[1].map(([tag, look, places, text]) => {
      const shape = document.createElementNS("http://www.w3.org/2000/svg", tag);
      shape.setAttribute("class", look);
      for (const [name, number] of Object.entries(places)) shape.setAttribute(name, number);
      shape.textContent = text;
      return shape;
    });
    svg.querySelector(".moving").replaceChildren(...shapes);
    svg.setAttribute("aria-label", picture[0]);
    scene.querySelector("figcaption").textContent = picture[0];
  }
  const button = (name) => film.querySelector(`button[data-do=${name}]`);
  let now = 0;
  let timer = 0;
  function show(step) {
    now = Math.max(0, Math.min(rows.length - 1, step));
    cells.forEach((cell, at) => {
      const is = states[now][at];
      cell.textContent = is;
      const changed = now > 0 && is !== states[now - 1][at];
      if (!changed) return;
      const mark = document.createElement("mark");
      mark.textContent = `${states[now - 1][at]} \u2192 ${is}`;
      cell.replaceChildren(mark);
    });
    rows.forEach((row, at) => {
      row.classList.toggle("now", at === now);
      if (at === now) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    });
    const list = film.querySelector(".steps");
    const row = rows[now];
    if (row.offsetTop < list.scrollTop || row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = row.offsetTop - list.clientHeight / 2;
    }
    if (scene) draw(pictures[now]);
    told.textContent = `Step ${now} of ${rows.length - 1}`;
    button("first").disabled = button("back").disabled = now === 0;
    button("next").disabled = button("last").disabled = now === rows.length - 1;
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    button("play").textContent = "Play";
  }
  const acts = {
    first: () => show(0),
    back: () => show(now - 1),
    next: () => show(now + 1),
    last: () => show(rows.length - 1),
    play: () => {
      if (timer) return stop();
      if (now === rows.length - 1) show(0);
      button("play").textContent = "Pause";
      timer = setInterval(() => (now < rows.length - 1 ? show(now + 1) : stop()), 800);
    },
  };
  for (const name of Object.keys(acts)) {
    button(name).addEventListener("click", () => {
      if (name !== "play") stop();
      acts[name]();
    });
  }
  const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };
  film.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    stop();
    acts[keys[event.key]]();
  });
  film.querySelector(".buttons").hidden = false;
  show(0);
}
// A film in a part that is closed begins when it is opened, so that a page of many runs opens fast.
for (const film of document.querySelectorAll(".film")) {
  const closed = film.closest("details:not([open])");
  if (closed) closed.addEventListener("toggle", () => start(film), { once: true });
  else start(film);
}
