import { readFile } from "node:fs/promises"
import { basename } from "node:path"
import { type Html, html, type Part, prose } from "@outreach/process/html"
import { code } from "./layout.ts"

/** Languages in order: sample file, and how to read the raw body in common servers. */
const LANGUAGES = [
  {
    language: "TypeScript",
    file: "verifySignature.ts",
    rawBody: 'Express: `express.raw({ type: "application/json" })`; Fetch: `await request.arrayBuffer()`.',
  },
  {
    language: "Python",
    file: "languages/verify_signature.py",
    rawBody: "Django: `request.body`; Flask: `request.get_data()`; FastAPI: `await request.body()`.",
  },
  {
    language: "PHP",
    file: "languages/verify_signature.php",
    rawBody: '`file_get_contents("php://input")`; Laravel and Symfony: `$request->getContent()`.',
  },
  {
    language: "Ruby",
    file: "languages/verify_signature.rb",
    rawBody: "Rails: `request.raw_post`; Rack and Sinatra: `request.body.read`.",
  },
  {
    language: "Go",
    file: "languages/verify_signature.go",
    rawBody: "`io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))`. `now` is `time.Now()`, `tolerance` `5*time.Minute`.",
  },
  {
    language: "Java",
    file: "languages/WebhookSignature.java",
    rawBody:
      "Spring: `@RequestBody byte[] rawBody`; servlets: `request.getInputStream().readAllBytes()`. `now` is `Instant.now().getEpochSecond()`, `tolerance` 300. `HexFormat` comes with Java 17.",
  },
  {
    language: "C#",
    file: "languages/WebhookSignature.cs",
    rawBody:
      "ASP.NET Core: `await Request.Body.CopyToAsync(stream)` and `stream.ToArray()` of a `MemoryStream`. `now` is `DateTimeOffset.UtcNow.ToUnixTimeSeconds()`.",
  },
] as const

/** Shows one of several languages at a time, initially the first. A script keeps the choice on all pages. */
export const languageTabs = (
  group: string,
  tabs: ReadonlyArray<{ readonly language: string; readonly content: Part }>,
): Html =>
  // Disclosures with the same name close each other without a script.
  html`<div class="languages">
${tabs.map(
  ({ language, content }, i) => html`<details name="${group}"${i === 0 ? html` open` : ""}>
<summary>${language}</summary>
${content}
</details>
`,
)}</div>`

/** The signature check in each language. */
export const verifyInYourLanguage = languageTabs(
  "signature",
  await Promise.all(
    LANGUAGES.map(async ({ language, file, rawBody }) => ({
      language,
      content: html`<p>The raw body: ${prose(rawBody)}</p>
${code(basename(file), await readFile(new URL(`samples/${file}`, import.meta.url), "utf8"))}`,
    })),
  ),
)
