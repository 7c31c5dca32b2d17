import { relative } from "node:path"

// The release workflow sets the repository; npm accepts the provenance only for the same repository.
const { GITHUB_SERVER_URL: server = "https://github.com", GITHUB_REPOSITORY: name } = process.env

export const hooks = {
  /**
   * Completes a packed or published manifest with URLs, and removes fields for this workspace. Packages of the workspace that are
   * built into another are its optional dependencies, because they run from sources without its development dependencies.
   * A program is packed from its bundle in `dist`, whose optional dependencies npm installs.
   */
  beforePacking({ devDependencies, optionalDependencies, scripts, ...rest }, packed) {
    const folder = packed.replace(/\/dist$/, "")
    const manifest = folder === packed ? rest : { ...rest, optionalDependencies }
    const exports = { ...manifest.exports, "./package.json": "./package.json" }
    if (name === undefined) {
      // After the release, the page on npm links to the repository and its issues.
      const page = `https://www.npmjs.com/package/${manifest.name}`
      return { ...manifest, exports, homepage: page, bugs: { url: page } }
    }
    const directory = relative(import.meta.dirname, folder)
    return {
      ...manifest,
      exports,
      homepage: `${server}/${name}/tree/HEAD/${directory}#readme`,
      bugs: { url: `${server}/${name}/issues` },
      repository: { type: "git", url: `git+${server}/${name}.git`, directory },
    }
  },
}
