/** Compares the generated pages with their data; `--write` updates them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"
import { settingsPage } from "./settingsPage.ts"

const SELF = "node tools/generated-pages-are-current.ts --write"

/** Returns the alert rules as an object of the Prometheus operator. */
const prometheusRule = (): string => `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: outreach
  labels: { app.kubernetes.io/part-of: outreach }
spec:
${readFileSync(join(root, "deploy/alerts.yml"), "utf8").replace(/^(?=.)/gm, "  ")}`

interface Page {
  readonly path: string
  readonly source: string
  readonly text: () => string
  /** Whether only marked parts of the page are generated. */
  readonly hasProse?: true
}

const pages: ReadonlyArray<Page> = [
  { path: "deploy/kubernetes/alerts.yaml", source: "deploy/alerts.yml", text: prometheusRule },
  { path: "docs/settings.md", source: "the settings that the processes declare", text: settingsPage, hasProse: true },
]

const isWriting = process.argv.includes("--write")
const violations = pages.flatMap(({ path, source, text, hasProse }) => {
  const file = join(root, path)
  const origin = `Generated from ${source} by \`${SELF}\`; edit that instead.`
  const head = hasProse === true ? "" : path.endsWith(".md") ? `<!-- ${origin} -->\n\n` : `# ${origin}\n`
  const page = `${head}${text()}`
  if (isWriting) writeFileSync(file, page)
  else if (!existsSync(file) || readFileSync(file, "utf8") !== page)
    return [`${path} differs from ${source}; write it anew: ${SELF}`]
  return []
})
report(violations, `${pages.length} pages`)
