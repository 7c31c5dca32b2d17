import manifest from "../package.json" with { type: "json" }

/** The release of the service: the version of this package. */
export const RELEASE: string = manifest.version
