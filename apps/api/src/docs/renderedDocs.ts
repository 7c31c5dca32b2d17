import { readFile } from "node:fs/promises"
import { changelogValues } from "./changelog.ts"
import { errorTexts, errorValues } from "./errorValues.ts"
import { code, keysOf, layout, PAGES, pathOf } from "./layout.ts"
import { referenceValues } from "./referenceValues.ts"
import { type GuideValues, renderGuide } from "./renderGuide.ts"
import { requestValues } from "./requestValues.ts"
import { startValues } from "./startValues.ts"
import { hashOf } from "./staticPage.ts"
import { languageTabs, verifyInYourLanguage } from "./verifyInYourLanguage.ts"
import { webhookValues } from "./webhookValues.ts"

const read = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), "utf8")

/** Names a file by a hash of its content, so that browsers can cache it permanently. */
const asset = (extension: string, text: string) => ({ path: `assets/${hashOf(text)}.${extension}`, text })

const values: GuideValues = {
  ...startValues,
  ...requestValues,
  ...webhookValues,
  ...errorValues("{{docsUrl}}"),
  ...referenceValues,
  ...changelogValues,
  // Filled in for each deployment.
  publicBaseUrl: "{{publicBaseUrl}}",
  unauthenticatedLimit: "{{unauthenticatedLimit}}",
  webhookServer: await read("samples/webhookServer.ts"),
  reconcile: languageTabs("reconciliation", [
    { language: "TypeScript", content: code("reconcile.ts", await read("samples/reconcile.ts")) },
    { language: "Python", content: code("reconcile.py", await read("samples/languages/reconcile.py")) },
  ]),
  verifyInYourLanguage,
}

const guides = await Promise.all(
  keysOf(PAGES).map(async (page) => ({
    page,
    content: renderGuide(await read(`guides/${page}.md`), values, errorTexts),
  })),
)

const icon = asset("svg", await read("icon.svg"))
const tokens = import.meta.resolve("@outreach/process/tokens.css")
const style = asset("css", (await read(tokens)) + (await read("styles/guides.css")))
const page = asset("js", await read("browser/page.js"))

/** Asset files by path below /docs, included in the bundle when it is built. */
export const renderedAssets: ReadonlyArray<{ readonly path: string; readonly text: string }> = [icon, style, page]

/** Pages by path. `{{publicBaseUrl}}`, `{{docsUrl}}` and `{{unauthenticatedLimit}}` are filled in for each deployment. */
export const renderedPages: ReadonlyArray<{ readonly path: string; readonly markup: string }> = guides.map(
  ({ page: current, content }) => ({
    path: pathOf(current),
    markup: layout({ current, style: style.path, script: page.path, icon: icon.path, content }).markup,
  }),
)
