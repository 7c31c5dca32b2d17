import type { OrganizationId } from "@outreach/domain/Identifier"
import type { OperatorRole } from "@outreach/domain/operators/Operator"
import { startBrowser, unfold, violations as violationsOf } from "@outreach/testing/startBrowser"
import type { BrowserContextOptions, Page } from "playwright-core"
import type { TestConsole } from "../startConsole.ts"

const DESKTOP = { viewport: { width: 1440, height: 900 } }
/** The narrowest screen of WCAG 2.2, 1.4.10. */
const PHONE = { viewport: { width: 320, height: 690 }, isMobile: true, hasTouch: true }

/** The screens for the checks of all pages. */
export const SCREENS: Readonly<Record<string, BrowserContextOptions>> = {
  desktop: DESKTOP,
  phone: PHONE,
}

/** A page of an operator, with its faults: requests to other hosts, errors and violations of the content policy. */
export interface Opened {
  readonly page: Page
  readonly complaints: ReadonlyArray<string>
}

/** Starts Chromium for a file's tests. Returns a function that opens a page for a signed-in operator until the end of the test. */
export const openBrowser = (test: () => TestConsole) => {
  const open = startBrowser()
  return async (
    role: OperatorRole,
    options: { readonly screen?: BrowserContextOptions; readonly organizationId?: OrganizationId } = {},
  ): Promise<Opened> => {
    const { url, as } = test()
    const { cookie } = await as(role, options.organizationId)
    const { page, complaints } = await open({ ...(options.screen ?? DESKTOP), baseURL: url })
    const [name = "", value = ""] = cookie.split("=")
    await page.context().addCookies([{ name, value, url }])
    page.on("request", (request) => {
      if (!request.url().startsWith(`${url}/`)) complaints.push(`request: ${request.url()}`)
    })
    return { page, complaints }
  }
}

/** Returns the violated accessibility rules with their elements, also of collapsed parts. `rules` limits the check. Default: all rules. */
export const violations = async (page: Page, rules?: ReadonlyArray<string>) => {
  await unfold(page)
  return violationsOf(page, rules === undefined ? { rules: { "target-size": { enabled: true } } } : { runOnly: rules })
}
