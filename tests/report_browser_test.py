#!/usr/bin/env python3
"""report.html in a real browser: it opens from its file, fetches nothing, reports no error, draws its charts, zooms
them together, fits two widths in both colour schemes and on paper, and shows the numbers of report.json.

usage: report_browser_test.py <folder of screenshots> <folder with report.html and report.json>... Exit 77 without
browser, driver or python3-selenium: the test is skipped. Without folders it tells only that."""
import base64
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

try:
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.chrome.service import Service
except ImportError:
    print("SKIPPED: no python3-selenium; tools/setup --tests installs it")
    sys.exit(77)

WIDTHS = (1280, 400)
SMALLEST_FONT = 11  # px
LEAST_COLORED = 100  # pixels of a chart
LARGEST_PAGE = 5_000_000  # bytes
DEADLINE = 60  # seconds for one answer of the browser
UNITS = {"s": 1, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
         "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12, "B/s": 1, "kB/s": 1e3,
         "MB/s": 1e6, "GB/s": 1e9, "%": 1e-2}

mistakes = []


def expect(holds, message):
    if not holds and message not in mistakes:
        mistakes.append(message)


def open_browser(profile):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not browser or not driver:
        print("SKIPPED: no chromium with chromedriver; tools/setup --tests installs them on Debian")
        sys.exit(77)
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    options.add_argument("--headless=new")
    options.add_argument(f"--user-data-dir={profile}")
    options.add_argument("--disable-dev-shm-usage")
    options.add_argument("--disable-background-networking")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    session = webdriver.Chrome(service=Service(driver), options=options)
    session.set_page_load_timeout(DEADLINE)
    session.set_script_timeout(DEADLINE)
    session.get("about:blank")
    time.sleep(0.5)
    session.get_log("performance")  # the browser's own first page
    return session


def show(session, url, width, scheme, media=""):
    session.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    session.execute_cdp_cmd("Emulation.setEmulatedMedia",
                            {"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})
    if url:
        session.get(url)


def screenshot(session, path):
    height = session.execute_script("return document.documentElement.scrollHeight")
    width = session.execute_script("return window.innerWidth")
    picture = session.execute_cdp_cmd("Page.captureScreenshot", {
        "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": min(height, 16000), "scale": 1}})
    path.write_bytes(base64.b64decode(picture["data"]))


def check_quiet(session, url, where):
    for entry in session.get_log("browser"):
        expect(entry["level"] not in ("SEVERE", "WARNING"), f"{where}: console: {entry['message']}")
    for entry in session.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked = message["params"]["request"]["url"]
            expect(asked == url or asked.startswith("data:"), f"{where}: asked the network for {asked}")


# How many pixels of each chart have a colour: axes and grids are grey, what they hold is not.
COUNT_PIXELS = """
return [...document.querySelectorAll('figure[data-chart]')].filter((figure) => figure.offsetParent && figure.querySelector('canvas')).map((figure) => {
  const canvas = figure.querySelectorAll('canvas');
  let colored = 0;
  for (const each of canvas) {
    const copy = Object.assign(document.createElement('canvas'), { width: each.width, height: each.height });
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(each, 0, 0);
    const data = context.getImageData(0, 0, each.width, each.height).data;
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] > 60 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 40) ++colored;
  }
  return [figure.dataset.chart, colored];
});"""


def check_drawn(session, charts, where):
    counts = session.execute_script(COUNT_PIXELS)
    for name, colored in counts:
        expect(colored > LEAST_COLORED, f"{where}: chart {name} is blank: {colored} coloured pixels")
    missing = charts - {name for name, _ in counts}
    expect(not missing, f"{where}: no chart {', '.join(sorted(missing))}")


def range_of(session, chart):
    return session.execute_script("""
        const box = document.querySelector(`figure[data-chart="${arguments[0]}"] .chart`);
        return drawn.find((graph) => graph.graphDiv.parentElement === box || graph.maindiv_ === box).xAxisRange();""", chart)


def check_zoom(session, others):
    whole = range_of(session, "rate")
    box = session.find_element(By.CSS_SELECTOR, 'figure[data-chart="rate"] .chart')
    session.execute_script("arguments[0].scrollIntoView({block: 'center'})", box)
    before = session.execute_script(COUNT_PIXELS)
    (ActionChains(session).move_to_element_with_offset(box, -100, 0).click_and_hold().move_by_offset(120, 2)
     .move_by_offset(80, 0).release().perform())
    zoomed = range_of(session, "rate")
    expect(zoomed[1] - zoomed[0] < 0.5 * (whole[1] - whole[0]), f"zoom: {whole} became {zoomed}")
    for other in others:
        expect(range_of(session, other) == zoomed, f"zoom: {other} did not follow: {range_of(session, other)}, not {zoomed}")
    expect(session.execute_script(COUNT_PIXELS) != before, "zoom: nothing was drawn anew")
    ActionChains(session).move_to_element(box).double_click().perform()
    for chart in ["rate"] + others:
        back = range_of(session, chart)
        expect(all(abs(a - b) < 1e-6 for a, b in zip(back, whole)), f"double click: {chart} shows {back}, not {whole}")
    session.execute_script("arguments[0].focus()", box)
    ActionChains(session).send_keys("+").perform()
    by_key = range_of(session, "rate")
    expect(by_key[1] - by_key[0] < 0.6 * (whole[1] - whole[0]), f"the key + does not zoom: {by_key}")
    ActionChains(session).send_keys("0").perform()


def check_layout(session, width, where):
    over = session.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    expect(over <= 0, f"{where}: the page is {over} px wider than the window")
    overlaps = session.execute_script("""
        const boxes = [...document.querySelectorAll('.tile')].map((tile) => [...tile.children].map((child) => child.getBoundingClientRect()));
        const tiles = [...document.querySelectorAll('.tile')].map((tile) => tile.getBoundingClientRect());
        const meet = (a, b) => a.left < b.right - 0.5 && b.left < a.right - 0.5 && a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5;
        const result = [];
        tiles.forEach((a, i) => tiles.forEach((b, k) => { if (i < k && meet(a, b)) result.push(`tiles ${i} and ${k}`); }));
        boxes.forEach((parts, i) => parts.forEach((a, k) => parts.forEach((b, m) => { if (k < m && meet(a, b)) result.push(`parts of tile ${i}`); })));
        for (const tile of document.querySelectorAll('.tile')) if (tile.scrollWidth > tile.clientWidth) result.push('a tile is too narrow: ' + tile.textContent);
        return result;""")
    expect(not overlaps, f"{where}: overlaps: {overlaps}")
    small = session.execute_script("""
        const walker = document.createTreeWalker(document.getElementById('page'), NodeFilter.SHOW_TEXT);
        const small = new Set();
        while (walker.nextNode()) {
          const parent = walker.currentNode.parentElement;
          if (walker.currentNode.data.trim() && parent.offsetParent && parseFloat(getComputedStyle(parent).fontSize) < arguments[0]) small.add(walker.currentNode.data);
        }
        return [...small].slice(0, 5);""", SMALLEST_FONT)
    expect(not small, f"{where}: text smaller than {SMALLEST_FONT} px: {small}")
    labels = session.execute_script("""
        const clipped = [];
        for (const figure of document.querySelectorAll('figure[data-chart]')) {
          const frame = figure.getBoundingClientRect();
          const labels = [...figure.querySelectorAll('.dygraph-axis-label')].filter((label) => label.textContent.trim());
          for (const label of labels) {
            if (label.scrollWidth > label.clientWidth + 1) clipped.push(`${figure.dataset.chart}: "${label.textContent}" is cut`);
            const range = document.createRange(); range.selectNodeContents(label);
            const box = range.getBoundingClientRect();
            if (box.left < frame.left - 1 || box.right > frame.right + 1) clipped.push(`${figure.dataset.chart}: "${label.textContent}" leaves the chart`);
          }
        }
        return clipped.slice(0, 8);""")
    expect(not labels, f"{where}: labels of axes: {labels}")
    few = session.execute_script("""
        return [...document.querySelectorAll('figure[data-chart]')].filter((figure) => figure.offsetParent && figure.dataset.chart !== 'skew' && figure.querySelector('canvas'))
          .filter((figure) => new Set([...figure.querySelectorAll('.dygraph-axis-label-x')].map((label) => label.textContent.trim()).filter(Boolean)).size < 2)
          .map((figure) => figure.dataset.chart);""")
    expect(not few, f"{where}: fewer than two labels on the x axis of {few}")


def value_of(text):
    """The number in '1.537 MB', '122,673,600', '0.78 %'."""
    match = re.fullmatch(r"([-−]?[\d.,]+(?:e[-+]?\d+)?)(?: (.*))?", text.strip())
    if not match:
        return None
    return float(match[1].replace(",", "").replace("−", "-")) * UNITS.get(match[2] or "", 1)


def follow(report, path):
    for step in path.split("."):
        report = report[int(step)] if isinstance(report, list) else report[step]
    return report


def check_numbers(session, report, where):
    shown = session.execute_script("return [...document.querySelectorAll('data[data-path]')].map((each) => [each.dataset.path, each.dataset.text ?? null, each.value, each.textContent])")
    for path, text_path, value, text in shown:
        there = follow(report, path)
        expect(float(value) == float(there), f"{where}: {path} is {there}, the page has {value}")
        if text_path:
            expect(text == follow(report, text_path), f"{where}: {text_path} is '{follow(report, text_path)}', the page shows '{text}'")
            continue
        read = value_of(text)
        expect(read is not None and abs(read - there) <= max(6e-3 * abs(there), 5.1e-3 if "." in text or there < 1 else 0.51),
               f"{where}: {path} is {there}, the page shows '{text}'")
    return len(shown)


def check_colours(session):
    """A rank has one colour in all charts."""
    keys = session.execute_script("""
        return [...document.querySelectorAll('#over-time figure .key')].filter((key) => /^rank \\d+$/.test(key.textContent.trim()))
          .map((key) => [key.textContent.trim(), key.querySelector('i').getAttribute('style')]);""")
    for rank in {name for name, _ in keys}:
        expect(len({paint for name, paint in keys if name == rank}) == 1, f"{rank} has several colours: {keys}")
    return len(keys)


def check_first_screen(session, report, run):
    """The first of the page: the verdict and the comparison, what ran, and why there is a verdict that is none."""
    order = session.execute_script("""
        return [...document.querySelectorAll('#overall, #comparison, #verdict')].map((each) => each.id);""")
    expect(order == (["overall", "comparison"] if report["comparison"] else []) + ["verdict"], f"the page has the order {order}")
    header = session.find_element(By.CSS_SELECTOR, "#run header").text
    for text in (run["ran"], run["started_at"]):
        expect(not text or text in header, f"the first screen does not tell {text}")
    unjudged = sum(each["result"] == "not_measured" for each in run["verdict"]["expectations"])
    expect(("could not be judged" in header) == (unjudged > 0), f"{unjudged} expectations could not be judged, the first screen says {header}")
    calm = session.find_elements(By.CSS_SELECTOR, ".calm")
    expect(bool(calm) == (not run["warnings"] and unjudged == 0), "'No warnings' stands where it must not, or is missing")


def check_bursts(session, run):
    if not any(each.get("bursts") for each in run["interfaces"]):
        return
    text = session.find_element(By.ID, "bursts").text
    for word in ("index of dispersion", "CV", "pause to the next", "period of the traffic", "share of the time in bursts"):
        expect(word in text, f"no {word} of the chosen counter")


def check_page(session, page, report, folder):
    url = page.resolve().as_uri()
    first = next(index for index, run in enumerate(report["runs"]) if run["role"] != "baseline")
    run = report["runs"][first]
    show(session, url, WIDTHS[0], "light")
    charts = charts_of(run)
    if not session.execute_script("return can_draw"):
        print("built without charts: the page must say so")
        expect("Charts were left out of this build" in session.find_element(By.ID, "page").text, "no word of absent charts")
        charts = set()
    for width in WIDTHS:
        for scheme in ("light", "dark"):
            where = f"{width} px, {scheme}"
            show(session, url, width, scheme)
            time.sleep(0.3)
            expect(session.title.strip() != "", f"{where}: no title")
            check_layout(session, width, where)
            check_drawn(session, charts, where)
            screenshot(session, folder / f"{page.parent.name}-{width}-{scheme}.png")
            check_quiet(session, url, where)
    show(session, url, WIDTHS[0], "light")
    text = session.execute_script("return document.getElementById('page').innerText")
    for warning in run["warnings"]:
        expect(" ".join(warning.split()) in " ".join(text.split()), f"the page does not show the warning {warning}")
    check_first_screen(session, report, run)
    check_bursts(session, run)
    if "gantt" in charts:
        expect(check_colours(session) >= 2 * len(run["skew"]), "no charts of the ranks' connections")
    verdict = session.find_element(By.ID, "verdict").text
    word = {"pass": "PASS", "fail": "FAIL", "not_measured": "NOT MEASURED", "none": "NO EXPECTATIONS"}[run["verdict"]["result"]]
    expect(word in verdict, f"the verdict is {word}, the page shows {verdict}")
    count = 0
    for index in range(len(report["runs"])):
        tabs = session.find_elements(By.CSS_SELECTOR, '[role="tab"]')
        if tabs:
            tabs[index].click()
        count += check_numbers(session, report, f"run {index}")
    if tabs:
        tabs[first].click()
    if "rate" in charts:
        check_zoom(session, ["gantt"] if "gantt" in charts else [])
    check_quiet(session, url, "after zooming")
    show(session, url, WIDTHS[0], "dark")
    show(session, None, WIDTHS[0], "dark", media="print")
    time.sleep(0.5)
    paper = session.execute_script("return getComputedStyle(document.body).backgroundColor")
    expect(paper == "rgb(255, 255, 255)", f"print: the paper is {paper}")
    check_drawn(session, charts, "print")
    screenshot(session, folder / f"{page.parent.name}-print.png")
    check_quiet(session, url, "print")
    return count


def charts_of(run):
    charts = set()
    if any(row["e_lower_bytes"] for each in run.get("interfaces") or [] for row in each["burstiness"]):
        charts |= {"rate", "ptm", "e"}
    if run.get("iterations") and (run["iterations"].get("values") or []):
        charts |= {"gantt", "iterations", "buckets", "lateness"}
    return charts


def main(pictures, folders):
    with tempfile.TemporaryDirectory(prefix="gradburst-browser-", ignore_cleanup_errors=True) as profile:
        session = open_browser(profile)
        try:
            for folder in folders:
                page, report_path = folder / "report.html", folder / "report.json"
                report = json.loads(report_path.read_text(encoding="utf-8"))
                count = check_page(session, page, report, pictures)
                expect(count >= 20, f"only {count} numbers on the page")
                expect(page.stat().st_size < LARGEST_PAGE, f"the page has {page.stat().st_size} bytes")
                print(f"{page}: {page.stat().st_size} bytes, {count} numbers as in {report_path.name}")
        finally:
            session.quit()
    for mistake in mistakes:
        print("FAILED:", mistake)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), [pathlib.Path(folder) for folder in sys.argv[2:]]))
