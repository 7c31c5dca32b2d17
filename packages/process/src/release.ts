import manifest from "../package.json" with { type: "json" }

export const RELEASE: string = manifest.version

/** Names a process of this release among the connections of the database, such as `outreach-worker/1.4.0`. */
export const applicationName = (process: `outreach-${string}`): string => `${process}/${RELEASE}`
