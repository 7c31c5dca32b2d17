import { readFileSync } from "node:fs"
import { join } from "node:path"
import { readAllSettings } from "@outreach/ops/doctor/processSettings"
import type { Declaration } from "@outreach/process/setting"
import { root } from "./publishedPackages.ts"

const GROUPS = ["must", "should", "may"] as const

/** Returns docs/settings.md with its tables generated from the settings that the apps declare. The prose around them stays. */
export function settingsPage(): string {
  const { readers, declared } = readAllSettings()
  const processes = Object.entries(readers)
  const settings = [...declared]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, setting]) => {
      const readBy = processes.flatMap(([process, { names }]) => (names.has(name) ? [process] : []))
      if (readBy.length === 0) throw new Error(`No process of SETTINGS_READERS reads the setting ${name}`)
      const cells = [
        `\`${name}\``,
        readBy.length === processes.length ? "all" : readBy.join(", "),
        formatDefault(setting),
        setting.expected,
        setting.about,
      ]
      return { group: groupOf(setting), row: `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |` }
    })
  return GROUPS.reduce(
    (page, group) => {
      const rows = settings.filter((each) => each.group === group).map(({ row }) => row)
      const table = ["| setting | read by | default | value | meaning |", "| --- | --- | --- | --- | --- |", ...rows]
      const [start, end] = [`<!-- ${group}: made by`, `<!-- /${group} -->`]
      const from = page.indexOf("\n", page.indexOf(start)) + 1
      const to = page.indexOf(end)
      if (from === 0 || to < from)
        throw new Error(`docs/settings.md has no place for the settings of the group ${group}`)
      return `${page.slice(0, from)}\n${table.join("\n")}\n\n${page.slice(to)}`
    },
    readFileSync(join(root, "docs/settings.md"), "utf8"),
  )
}

const groupOf = ({ default: given, otherwise, isAdvised }: Declaration) => {
  if (given === undefined && otherwise === undefined) return "must"
  return isAdvised === true ? "should" : "may"
}

const formatDefault = ({ default: given, otherwise }: Declaration): string => {
  if (typeof given === "string") return `\`${given}\``
  if (given === undefined) return otherwise ?? "required"
  return Object.entries(given)
    .map(([process, text]) => `${process} \`${text}\``)
    .join(", ")
}
