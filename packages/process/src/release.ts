/** What `pnpm package` writes into the bundle. */
declare const OUTREACH_RELEASE: string | undefined

/** Names the release: the version and the commit, such as `1.4.0+0a1b2c3d4e5f`. The sources do not know their commit, and are `0.0.0-dev`. */
export const RELEASE: string = typeof OUTREACH_RELEASE === "undefined" ? "0.0.0-dev" : OUTREACH_RELEASE

const [version = RELEASE, commit = "unknown"] = RELEASE.split("+")
/** The parts of `RELEASE`. */
export const BUILD: { readonly version: string; readonly commit: string } = { version, commit }

/** Names a process of this release among the connections of the database, such as `outreach-worker/1.4.0+0a1b2c3d4e5f`. */
export const applicationName = (process: `outreach-${string}`): string => `${process}/${RELEASE}`
