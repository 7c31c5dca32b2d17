import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { cyclonedxEsbuildPlugin } from "@cyclonedx/cyclonedx-esbuild"
import { defineConfig } from "tsup"
import { nameRelease } from "./release/nameRelease.ts"

/** The files that the processes read at run time. `imports` of a `package.json` has their paths: of the sources in a clone, of `out/` here. */
const ASSETS = {
  "sql/migrations": "packages/postgres/sql/migrations",
  "sql/functions": "packages/postgres/sql/functions",
  LICENSE: "LICENSE",
}
const IMPORTS = { "#sql/*": "./sql/*" }

const RELEASE = nameRelease()

const ENTRIES = {
  api: "apps/api/src/main.ts",
  worker: "apps/worker/src/main.ts",
  console: "apps/console/src/main.ts",
  ops: "apps/ops/src/main.ts",
}

/** The processes and the command line as JavaScript with all their dependencies. */
export default defineConfig({
  entry: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [`main/${name}`, path])),
  outDir: "out",
  clean: true,
  silent: true,
  format: "esm",
  platform: "node",
  target: "node22",
  noExternal: [/./],
  splitting: true,
  sourcemap: true,
  removeNodeProtocol: false,
  define: { OUTREACH_RELEASE: JSON.stringify(RELEASE) },
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
      // They read files of the repository that `out/` doesn't have.
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
      name: "assets",
      setup: (build) => {
        build.onEnd(async ({ metafile }) => {
          const out = build.initialOptions.outdir!
          await mkdir(out, { recursive: true })
          await Promise.all(Object.entries(ASSETS).map(([to, from]) => cp(from, join(out, to), { recursive: true })))
          const { engines, ...rest } = await manifest()
          for (const name of Object.keys(ENTRIES)) {
            await writeFile(join(out, `${name}.js`), entry(name, engines.node))
          }
          await writeFile(join(out, "package.json"), JSON.stringify({ ...rest, engines }, null, 2))
          await writeFile(join(out, "sbom.json"), JSON.stringify(await nameInSbom(join(out, "sbom.json")), null, 2))
          await writeFile(join(out, "LICENSES.txt"), await licenses(Object.keys(metafile!.inputs)))
        })
      },
    },
  ],
})

const readJson = async (file: string): Promise<Record<string, unknown>> => JSON.parse(await readFile(file, "utf8"))

/**
 * Returns a file that starts a process, or reports that Node is too old. An old Node can't parse the process, so the file imports it by a call and
 * uses only old syntax.
 */
const entry = (name: string, engine: string): string => {
  const required = engine.replace(">=", "")
  const [major, minor] = required.split(".")
  return `var version = process.versions.node.split(".").map(Number)
if (version[0] < ${major} || (version[0] === ${major} && version[1] < ${minor})) {
  process.stderr.write("This needs Node ${required} or later, and runs on " + process.versions.node + " (" + process.execPath + ").\\n")
  process.exitCode = 1
} else import("./main/${name}.js")
`
}

const manifest = async () => {
  const { name, license, engines } = (await readJson("package.json")) as {
    readonly name: string
    readonly license: string
    readonly engines: { readonly node: string }
  }
  return { name, version: RELEASE, private: true, license, type: "module", engines, imports: IMPORTS }
}

/** Returns the list of bundled packages. The whole and our unpublished packages have the release's version. */
const nameInSbom = async (file: string): Promise<object> => {
  const { metadata, components, ...rest } = (await readJson(file)) as {
    readonly metadata: { readonly component: object }
    readonly components: ReadonlyArray<{ readonly version?: string }>
  }
  const nameOurs = (component: object) => ({ ...component, version: RELEASE, purl: undefined })
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
