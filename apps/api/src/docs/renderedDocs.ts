import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Html } from "@outreach/process/html"
import { Struct } from "effect"
import { changelogValues } from "./changelog.ts"
import { errorValues } from "./errorValues.ts"
import { fillGuide } from "./fillGuide.ts"
import { layout, PAGES, type Page, pathOf } from "./layout.ts"
import { plainMarkdown } from "./plainMarkdown.ts"
import { referenceValues } from "./referenceValues.ts"
import { code, type GuideValues, renderGuide, tabs } from "./renderGuide.ts"
import { KEY_PLACEHOLDER } from "./requestSamples.ts"
import { hashOf } from "./staticPage.ts"
import { webhookValues } from "./webhookValues.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

/** Code of each sample, by file name. */
const samples = Object.fromEntries(
  readdirSync(fileURLToPath(new URL("samples", import.meta.url)), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), "utf8").trimEnd()]),
)

/** Files of each framework's receiver in `examples/`, where a test runs them. */
const RECEIVERS = {
  Express: ["receivers/express.ts"],
  Fastify: ["receivers/fastify.ts"],
  Hono: ["receivers/hono.ts"],
  Node: ["receivers/node.ts"],
  "Next.js": ["nextjs/app/webhooks/route.ts"],
  NestJS: ["nestjs/src/webhooks.service.ts", "nestjs/src/main.ts"],
  SvelteKit: ["sveltekit/src/routes/webhooks/+server.ts"],
  "React Router": ["react-router/app/webhooks.ts"],
  "AWS Lambda": ["receivers/lambda.ts"],
}

/** Names a file by a hash of its content, so that browsers can cache it permanently. */
const asset = (extension: string, text: string) => ({ path: `assets/${hashOf(text)}.${extension}`, text })

const list = (pages: ReadonlyArray<Page>, addressOf: (page: Page) => string): string =>
  pages.map((page) => `- [${PAGES[page].title}](${addressOf(page)}): ${PAGES[page].description}`).join("\n")

const values: GuideValues = {
  ...referenceValues,
  ...webhookValues,
  ...errorValues,
  ...changelogValues,
  ...samples,
  key: KEY_PLACEHOLDER,
  receivers: tabs(
    "receivers",
    Object.entries(RECEIVERS).map(([framework, files]) => [
      framework,
      files
        .map((file) => code(file.replace(/^[\w-]+\//, ""), read(`../../../../examples/${file}`).trimEnd()))
        .join("\n\n"),
    ]),
  ),
  // Filled in for each deployment.
  publicBaseUrl: "{{publicBaseUrl}}",
  unauthenticatedLimit: "{{unauthenticatedLimit}}",
  release: "{{release}}",
  pages: list(Struct.keys(PAGES).slice(1), (page) => `docs/${page}`),
  markdownPages: list(Struct.keys(PAGES), (page) => `{{publicBaseUrl}}${pathOf(page)}.md`),
}

const icon = asset("svg", read("icon.svg"))
const tokens = import.meta.resolve("@outreach/process/tokens.css")
const style = asset("css", read(tokens) + read("styles/guides.css"))
const script = asset("js", read("browser/page.js"))

/** Asset files by path below /docs, included in the bundle when it is built. */
export const renderedAssets: ReadonlyArray<{ readonly path: string; readonly text: string }> = [icon, style, script]

const frame = { style: style.path, script: script.path, icon: icon.path }

/** Pages by path, also as Markdown. The values in double braces are filled in for each deployment. */
export const renderedPages = Struct.keys(PAGES).map((current) => {
  const guide = read(`guides/${current}.md`)
  const { markup } = layout({ current, ...frame, content: renderGuide(guide, values) })
  return { path: pathOf(current), markup, markdown: plainMarkdown(fillGuide(guide, values)) }
})

/** The search page. `{{query}}` and `{{results}}` are filled in for each search. */
export const renderedSearch: string = layout({
  current: "search",
  ...frame,
  content: new Html("<h1>Search</h1>\n{{results}}"),
}).markup

/** List of the pages as Markdown for language models, in the format of https://llmstxt.org. */
export const renderedLlms: string = fillGuide(read("guides/llms.txt"), values)
