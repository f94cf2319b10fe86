"""Opens pages in headless Chromium at two widths, and says what is wrong with them.

    python3 tools/look_at_pages.py PAGE.html … [--shots FOLDER] [--seconds 2]

Of each page and width: the time until it can be used, messages of the browser, elements wider than the window, pictures
without a text, and films whose keys do not work. With --shots, a screenshot of each. Ends with 0 if all is well, 1 if
something is wrong, 77 if there is no Chromium.

Needs nothing but Python and Chromium (`chromium`, or what CHROMIUM names): they talk through a pipe.
"""

import argparse
import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WIDTHS = (1280, 380)
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

# What a page is asked. The names of elements that are wider than the window; what scrolls by itself does not count, and what is in
# a closed part would only be laid out for the question.
OVERFLOWS = """[...document.querySelectorAll('body *')].filter(e => {
  if (e.parentElement.closest('details:not([open])')) return false;
  const r = e.getBoundingClientRect();
  if (r.width === 0 || r.right <= innerWidth + 1) return false;
  for (let p = e; p; p = p.parentElement) if (getComputedStyle(p).overflowX !== 'visible') return false;
  return getComputedStyle(e).position !== 'absolute';
}).slice(0, 5).map(e => e.tagName + '.' + e.getAttribute('class')).concat(
  document.documentElement.scrollWidth > innerWidth + 1 ? ['the page'] : [])"""
UNNAMED = """[...document.querySelectorAll('svg, img')].filter(e => e.getAttribute('aria-hidden') !== 'true'
  && !(e.getAttribute('aria-label') || e.getAttribute('alt'))).map(e => e.outerHTML.slice(0, 80))"""
OPENED = """new Promise(done => {
  document.querySelector('details:not([open]):has(.film)')?.setAttribute('open', '');
  setTimeout(() => done(1), 100);
})"""
FILMS = """[...document.querySelectorAll('.film')].filter(f => !f.closest('details:not([open])')).flatMap(film => {
  const key = name => film.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true, cancelable: true}));
  const told = () => film.querySelector('output').textContent;
  const picture = () => film.querySelector('.scene svg')?.getAttribute('aria-label');
  const first = told(), drawn = picture();
  const wrong = [];
  key('End');
  const steps = film.querySelectorAll('.steps tbody tr').length - 1;
  if (steps > 0 && told() === first) wrong.push('End does not move to the end');
  if (told() !== `Step ${steps} of ${steps}`) wrong.push(told());
  if (drawn && !film.querySelector('.scene').hidden && steps > 0 && picture() === undefined) wrong.push('no picture');
  key('Home');
  if (told() !== first || picture() !== drawn) wrong.push('Home does not move to the start');
  return wrong;
})"""


class Browser:
    """Chromium, driven through a pipe by its DevTools protocol."""

    def __init__(self, program, folder):
        to_browser, ours = os.pipe()
        back, from_browser = os.pipe()

        def wires():
            # The browser reads from 3 and writes to 4.
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars",
                   "--force-color-profile=srgb", f"--user-data-dir={folder}"]
        self.process = subprocess.Popen([program, *options], preexec_fn=wires, pass_fds=(3, 4, to_browser, from_browser),
                                        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.ours, self.back = ours, open(back, "rb")
        self.number, self.session, self.events, self.rest = 0, None, [], b""

    def message(self):
        """The next message of the browser."""
        while b"\0" not in self.rest:
            piece = os.read(self.back.fileno(), 1 << 20)
            if not piece:
                raise SystemExit("the browser ended")
            self.rest += piece
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        number, call = self.number, {"id": self.number, "method": method, "params": parameters}
        if self.session:
            call["sessionId"] = self.session
        data = json.dumps(call).encode() + b"\0"
        while data:
            data = data[os.write(self.ours, data):]
        while True:
            message = self.message()
            if message.get("id") == number:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait(self, method):
        for at, event in enumerate(self.events):
            if event.get("method") == method:
                return self.events.pop(at)
        while (message := self.message()).get("method") != method:
            self.events.append(message)
        return message

    def ask(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise SystemExit(f"a question to the page failed: {result['exceptionDetails']}")
        return result["result"].get("value")

    def processor_time(self):
        """Seconds of the processor that each process of the browser took so far."""
        session, self.session = self.session, None
        processes = self.call("SystemInfo.getProcessInfo")["processInfo"]
        self.session = session
        return {process["id"]: process["cpuTime"] for process in processes}

    def close(self):
        os.close(self.ours)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def look(browser, page, width, seconds, shots):
    """What is wrong with a page at a width."""
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log"):
        browser.call(f"{domain}.enable")
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    browser.events.clear()
    begin, used = time.monotonic(), browser.processor_time()
    browser.call("Page.navigate", url=page.resolve().as_uri())
    browser.wait("Page.loadEventFired")
    # Whatever the page's script still does comes before the answer.
    browser.ask("new Promise(done => requestAnimationFrame(() => done(1)))")
    # On a machine that has more to do, the time of the processor tells more.
    shares = [now - used.get(process, 0) for process, now in browser.processor_time().items()]
    taken = min(time.monotonic() - begin, sum(shares))
    wrong = [f"{taken:.2f} s until it can be used"] if taken > seconds else []
    wrong += [f"wider than the window: {what}" for what in browser.ask(OVERFLOWS)]
    wrong += [f"a picture without a text: {what}" for what in browser.ask(UNNAMED)]
    browser.ask(OPENED)
    wrong += [f"film: {what}" for what in browser.ask(FILMS)]
    for event in browser.events:
        if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
            wrong.append(f"the browser says: {json.dumps(event['params'])[:300]}")
    if shots:
        height = min(int(browser.ask("document.documentElement.scrollHeight")), 6000)
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        image = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        (shots / f"{page.stem}-{width}.png").write_bytes(base64.b64decode(image["data"]))
    browser.session = None
    browser.call("Target.closeTarget", targetId=target)
    return taken, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--shots", type=Path, help="a folder for screenshots")
    parser.add_argument("--seconds", type=float, default=2, help="the longest time until a page can be used")
    arguments = parser.parse_args()
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        print("there is no Chromium: pages were not looked at", file=sys.stderr)
        return 77
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    is_well = True
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(program, folder)
        try:
            for page in arguments.pages:
                for width in WIDTHS:
                    taken, wrong = look(browser, page, width, arguments.seconds, arguments.shots)
                    print(f"{page.name} at {width}: {taken:.2f} s, {'; '.join(wrong) or 'well'}")
                    is_well &= not wrong
        finally:
            browser.close()
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
