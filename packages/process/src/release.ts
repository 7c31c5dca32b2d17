/** Set by `pnpm package`. */
declare const OUTREACH_RELEASE: string | undefined

/** The release: version and commit, such as `1.4.0+0a1b2c3d4e5f`. Running from source, `0.0.0-dev`. */
export const RELEASE: string = typeof OUTREACH_RELEASE === "undefined" ? "0.0.0-dev" : OUTREACH_RELEASE

const [version = RELEASE, commit = "unknown"] = RELEASE.split("+")
/** The parts of `RELEASE`. */
export const BUILD: { readonly version: string; readonly commit: string } = { version, commit }

/** Name of a process among the database's connections, such as `outreach-worker/1.4.0+0a1b2c3d4e5f`. */
export const applicationName = (process: `outreach-${string}`): string => `${process}/${RELEASE}`
