import { relative } from "node:path"

// The workflow that releases the packages says where they come from; npm accepts their provenance only when it names the same repository.
const { GITHUB_SERVER_URL: server = "https://github.com", GITHUB_REPOSITORY: name } = process.env

export const hooks = {
  /**
   * Completes a manifest as it is packed or published: with addresses, and without what only this workspace uses. Packages of the workspace that are
   * built into another are its optional dependencies, because they run from their sources without its development dependencies.
   */
  beforePacking({ devDependencies, optionalDependencies, scripts, ...manifest }, folder) {
    const exports = { ...manifest.exports, "./package.json": "./package.json" }
    if (name === undefined) {
      // The page on npm leads to the repository and its issues, once the package is released.
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
