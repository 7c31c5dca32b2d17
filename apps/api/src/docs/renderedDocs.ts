import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Struct } from "effect"
import { changelogValues } from "./changelog.ts"
import { errorValues } from "./errorValues.ts"
import { layout, PAGES, pathOf } from "./layout.ts"
import { referenceValues } from "./referenceValues.ts"
import { type GuideValues, renderGuide } from "./renderGuide.ts"
import { hashOf } from "./staticPage.ts"
import { webhookValues } from "./webhookValues.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

/** Code of each sample, by file name. */
const samples = Object.fromEntries(
  readdirSync(fileURLToPath(new URL("samples", import.meta.url)), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), "utf8").trimEnd()]),
)

/** Names a file by a hash of its content, so that browsers can cache it permanently. */
const asset = (extension: string, text: string) => ({ path: `assets/${hashOf(text)}.${extension}`, text })

const values: GuideValues = {
  ...referenceValues,
  ...webhookValues,
  ...errorValues,
  ...changelogValues,
  ...samples,
  // Filled in for each deployment.
  publicBaseUrl: "{{publicBaseUrl}}",
  unauthenticatedLimit: "{{unauthenticatedLimit}}",
  pages: Struct.keys(PAGES)
    .slice(1)
    .map((page) => `- [${PAGES[page].title}](docs/${page}): ${PAGES[page].description}`)
    .join("\n"),
}

const icon = asset("svg", read("icon.svg"))
const tokens = import.meta.resolve("@outreach/process/tokens.css")
const style = asset("css", read(tokens) + read("styles/guides.css"))
const script = asset("js", read("browser/page.js"))

/** Asset files by path below /docs, included in the bundle when it is built. */
export const renderedAssets: ReadonlyArray<{ readonly path: string; readonly text: string }> = [icon, style, script]

/** Pages by path. `{{publicBaseUrl}}`, `{{docsUrl}}` and `{{unauthenticatedLimit}}` are filled in for each deployment. */
export const renderedPages: ReadonlyArray<{ readonly path: `/docs${string}`; readonly markup: string }> = Struct.keys(
  PAGES,
).map((current) => {
  const content = renderGuide(read(`guides/${current}.md`), values)
  const { markup } = layout({ current, style: style.path, script: script.path, icon: icon.path, content })
  return { path: pathOf(current), markup }
})
