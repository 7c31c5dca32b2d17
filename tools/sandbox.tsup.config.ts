import { readFileSync } from "node:fs"
import { defineConfig } from "tsup"
import { bundle } from "./tsup.config.ts"

const read = (file: string) => JSON.parse(readFileSync(file, "utf8"))

const { name, version, description, keywords, license, type, publishConfig } = read("package.json")

/**
 * The sandbox as its package on npm contains it, with the service. The programs of PostgreSQL are in packages for each platform. It contains files of the
 * whole repository, so turbo does not cache it.
 */
export default defineConfig({
  ...bundle({
    release: version,
    commands: ["sandbox"],
    modules: {
      sandbox: "apps/sandbox/src/cli.ts",
      exitWithParent: "apps/sandbox/src/exitWithParent.ts",
      supervisor: "packages/test-support/embedded-postgres/src/supervisor.ts",
    },
    assets: {
      "seed/invitation.html": "apps/sandbox/src/seed/invitation.html",
      "README.md": "packages/sandbox/README.md",
    },
    withNewNode: `npx -p node@24 -p ${name} outreach-sandbox`,
    imports: { "#main/*": "./main/*.js", "#seed/*": "./seed/*" },
    manifest: {
      ...{ name, description, keywords, license, type, bin: { "outreach-sandbox": "sandbox.js" } },
      publishConfig: { ...publishConfig, directory: undefined },
      optionalDependencies: read("../../packages/test-support/embedded-postgres/package.json").optionalDependencies,
    },
  }),
  sourcemap: false,
})
