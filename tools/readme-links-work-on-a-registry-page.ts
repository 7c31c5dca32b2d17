/**
 * Checks the README of every published package as a registry shows it, without other files: each link is absolute or leads to a heading of the
 * same page. A linked package of ours must be published.
 */
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { anchorOf } from "./anchorOf.ts"
import { publishedPackages, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const FENCE = /^```.*\n[\s\S]*?^```$/gm
const CODE_SPAN = /`[^`\n]*`/g
const TARGET = /\]\(([^()\s]+)(?: "[^"]*")?\)|^\[[^\]]+\]: (\S+)|(?:href|src)="([^"]*)"/gm
const HEADING = /^#+ (.+)$/gm
const PACKAGE_PAGE = /^https:\/\/www\.npmjs\.com\/package\/(@outreach\/[^/#?]+)/

const packages = publishedPackages()
const names = new Set(packages.map(({ name }) => name))
let links = 0
const violations = packages.flatMap(({ folder }) => {
  const page = join(folder, "README.md")
  const text = readFileSync(page, "utf8").replaceAll(FENCE, "")
  const anchors = new Set([...text.matchAll(HEADING)].map(([, heading = ""]) => anchorOf(heading)))
  const targets = [...text.replaceAll(CODE_SPAN, "").matchAll(TARGET)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? "",
  )
  links += targets.length
  const fault = (target: string): string | undefined => {
    if (target.startsWith("#")) return anchors.has(target.slice(1)) ? undefined : "has no such heading"
    if (!/^https:\/\//.test(target)) return "is not absolute"
    const name = PACKAGE_PAGE.exec(target)?.[1]
    return name === undefined || names.has(name) ? undefined : "is not a package that we publish"
  }
  return targets.flatMap((target) => {
    const problem = fault(target)
    return problem === undefined ? [] : [`${relative(root, page)} links to ${target}, which ${problem}`]
  })
})
report(violations, `${links} links`)
