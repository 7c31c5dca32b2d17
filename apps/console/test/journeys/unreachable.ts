import type { Page } from "playwright-core"

/** The controls that a keyboard must reach. The links of a drawing are also in the table next to it. */
const CONTROLS =
  "a[href]:not([tabindex='-1']), button, summary, input:not([type=hidden]):not([type=radio]), select, textarea, [tabindex='0']"

/** Presses the Tab key until the focus leaves a page. Returns the controls without focus, or with an invisible focus. */
export const unreachable = async (page: Page): Promise<ReadonlyArray<string>> => {
  const controls = page.locator(CONTROLS).filter({ visible: true })
  const count = await controls.evaluateAll((all) => {
    for (const [i, control] of all.entries()) control.setAttribute("data-control", String(i))
    return all.length
  })
  // The e-mail in a frame belongs to another process, which returns the focus later than a key press ends.
  await page.locator("iframe").evaluateAll((frames) => {
    for (const frame of frames) frame.setAttribute("inert", "")
  })
  const reached = new Set<string>()
  const hidden: Array<string> = []
  let last: string | undefined
  // More presses than controls, because a time field consists of several parts with focus.
  for (let presses = 0; presses < 3 * count + 10 && reached.size < count; presses++) {
    await page.keyboard.press("Tab")
    const focus = await page.evaluate(focused)
    if (focus.control === null) continue
    if (reached.has(focus.control)) {
      if (focus.control === last) continue
      break
    }
    last = focus.control
    reached.add(focus.control)
    if (!focus.isShown) hidden.push(`no sign of the focus: ${focus.words}`)
  }
  const missed = await controls.evaluateAll(
    (all, found) =>
      all
        .filter((control) => !found.includes(control.getAttribute("data-control") ?? ""))
        .map((control) => `not reached: ${control.outerHTML.slice(0, 120)}`),
    [...reached],
  )
  return [...missed, ...hidden]
}

/** Runs in the page. Returns the control with the focus, and whether the focus is visible. */
const focused = () => {
  const { activeElement, defaultView } = document
  const box = activeElement?.getBoundingClientRect()
  const style = activeElement === null ? undefined : defaultView?.getComputedStyle(activeElement)
  return {
    control: activeElement?.getAttribute("data-control") ?? null,
    words: activeElement?.outerHTML.slice(0, 120) ?? "",
    isShown:
      box !== undefined &&
      box.bottom > 0 &&
      box.top < (defaultView?.innerHeight ?? 0) &&
      box.width > 0 &&
      style?.outlineStyle !== "none",
  }
}
