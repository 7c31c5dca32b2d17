import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { cyclonedxEsbuildPlugin } from "@cyclonedx/cyclonedx-esbuild"
import { decode, encode } from "@jridgewell/sourcemap-codec"
import { defineConfig, type Options } from "tsup"
import { nameRelease } from "./release/nameRelease.ts"

// tsup bundles this file and keeps only the URL of the source.
const root = fileURLToPath(new URL("..", import.meta.url))

/** The files that the processes of the service read at run time. `imports` of a `package.json` has their paths: of the sources in a clone, of the bundle here. */
const ASSETS = {
  LICENSE: "LICENSE",
  "sql/migrations": "packages/postgres/sql/migrations",
  "sql/functions": "packages/postgres/sql/functions",
}
const IMPORTS = { "#sql/*": "./sql/*" }

/** The sources of the processes and of the command line. */
const SERVICE = {
  api: "apps/api/src/main.ts",
  worker: "apps/worker/src/main.ts",
  console: "apps/console/src/main.ts",
  ops: "apps/ops/src/main.ts",
}

type Paths = Readonly<Record<string, string>>

/** Returns the options of a bundle: the service and other programs as JavaScript with all their dependencies. */
export const bundle = ({
  release,
  modules = {},
  commands,
  assets = {},
  withNewNode,
  imports = {},
  manifest,
}: {
  /** The version that the programs report. */
  readonly release: string
  /** Sources in addition to the service's, by name in `main/`. Default none. */
  readonly modules?: Paths
  /** The modules that users start: each has a file that checks Node's version. */
  readonly commands: ReadonlyArray<string>
  /** Files in addition to the service's. Default none. */
  readonly assets?: Paths
  /** The command that runs it with a new Node, for users whose Node is too old. */
  readonly withNewNode?: string
  /** `imports` of the `package.json` in addition to the service's. Default none. */
  readonly imports?: Paths
  /** The other fields of the `package.json`. */
  readonly manifest: object
}): Options => ({
  entry: Object.fromEntries(
    Object.entries({ ...SERVICE, ...modules }).map(([name, path]) => [`main/${name}`, join(root, path)]),
  ),
  clean: true,
  silent: true,
  format: "esm",
  platform: "node",
  target: "node22",
  noExternal: [/./],
  splitting: true,
  sourcemap: true,
  removeNodeProtocol: false,
  define: { OUTREACH_RELEASE: JSON.stringify(release) },
  // CommonJS packages call `require` for modules of Node.
  banner: {
    js: 'import { createRequire as createRequire_ } from "node:module"; const require = createRequire_(import.meta.url);',
  },
  esbuildOptions: (options) => {
    options.chunkNames = "chunks/[name]-[hash]"
    // The maps name the sources without their text.
    options.sourcesContent = false
    options.jsx = "automatic"
    options.jsxImportSource = "preact"
  },
  esbuildPlugins: [
    cyclonedxEsbuildPlugin({ outputFile: "sbom.json", outputReproducible: true, validate: true, logLevel: "silent" }),
    {
      // They read files of the repository that the bundle doesn't have.
      name: "values",
      setup: (build) => {
        build.onLoad({ filter: /\/(?:docs\/renderedDocs|http\/browserFiles)\.ts$/ }, async ({ path }) => {
          const values = Object.entries(await import(path))
          return {
            contents: values.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}`).join("\n"),
          }
        })
      },
    },
    {
      // Node keeps the maps in memory. A stack trace needs one position per line, and the others would cost a worker 15 MiB.
      name: "maps",
      setup: (build) => {
        build.onEnd(({ outputFiles = [] }) => {
          for (const file of outputFiles.filter(({ path }) => path.endsWith(".map"))) {
            const map = JSON.parse(file.text)
            const mappings = encode(decode(map.mappings).map((line) => line.slice(0, 1)))
            file.contents = new TextEncoder().encode(JSON.stringify({ ...map, mappings, names: [] }))
          }
        })
      },
    },
    {
      name: "assets",
      setup: (build) => {
        build.onEnd(async ({ metafile }) => {
          const out = build.initialOptions.outdir!
          await mkdir(out, { recursive: true })
          const files = Object.entries({ ...ASSETS, ...assets })
          await Promise.all(files.map(([to, from]) => cp(join(root, from), join(out, to), { recursive: true })))
          const { engines } = (await readJson(join(root, "package.json"))) as {
            readonly engines: { readonly node: string }
          }
          for (const name of commands) await writeFile(join(out, `${name}.js`), entry(name, engines.node, withNewNode))
          const fields = { ...manifest, version: release, engines, imports: { ...IMPORTS, ...imports } }
          await writeFile(join(out, "package.json"), JSON.stringify(fields, null, 2))
          const sbom = await nameInSbom(join(out, "sbom.json"), release)
          await writeFile(join(out, "sbom.json"), JSON.stringify(sbom, null, 2))
          await writeFile(join(out, "LICENSES.txt"), await licenses(Object.keys(metafile!.inputs)))
        })
      },
    },
  ],
})

/** The service as operators install it. */
export default defineConfig({
  ...bundle({
    release: nameRelease(),
    commands: Object.keys(SERVICE),
    manifest: { name: "outreach-partner-api", private: true, license: "MIT", type: "module" },
  }),
  outDir: "out",
})

const readJson = async (file: string): Promise<Record<string, unknown>> => JSON.parse(await readFile(file, "utf8"))

/**
 * Returns a file that starts a process, or reports that Node is too old. An old Node can't parse the process, so the file imports it by a call and
 * uses only old syntax.
 */
const entry = (name: string, engine: string, withNewNode: string | undefined): string => {
  const required = engine.replace(">=", "")
  const [major, minor] = required.split(".")
  const run = withNewNode === undefined ? "" : ` + [" Run: ${withNewNode}"].concat(process.argv.slice(2)).join(" ")`
  return `#!/usr/bin/env node
var version = process.versions.node.split(".").map(Number)
if (version[0] < ${major} || (version[0] === ${major} && version[1] < ${minor})) {
  process.stderr.write("This needs Node ${required} or later, and runs on " + process.versions.node + " (" + process.execPath + ")."${run} + "\\n")
  process.exitCode = 1
} else import("./main/${name}.js")
`
}

/** Returns the list of bundled packages. The whole and our unpublished packages have the release's version. */
const nameInSbom = async (file: string, release: string): Promise<object> => {
  const { metadata, components, ...rest } = (await readJson(file)) as {
    readonly metadata: { readonly component: object }
    readonly components: ReadonlyArray<{ readonly version?: string }>
  }
  const nameOurs = (component: object) => ({ ...component, version: release, purl: undefined })
  return {
    ...rest,
    metadata: { ...metadata, component: nameOurs(metadata.component) },
    components: components.map((it) => (it.version === undefined ? nameOurs(it) : it)),
  }
}

/** Returns the license of each bundled npm package. */
const licenses = async (inputs: ReadonlyArray<string>): Promise<string> => {
  const packages = inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(input) ?? [])
  const texts = await Promise.all(
    [...new Set(packages)].map(async (folder) => {
      const { name, version, license } = await readJson(join(folder, "package.json"))
      const files = (await readdir(folder)).filter((file) => /licen[cs]e|notice/i.test(file)).sort()
      const contents = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")))
      return `${name} ${version}: ${license}\n\n${contents.map((text) => `${text.trim()}\n`).join("\n")}`
    }),
  )
  return texts.sort().join(`\n${"─".repeat(80)}\n\n`)
}
