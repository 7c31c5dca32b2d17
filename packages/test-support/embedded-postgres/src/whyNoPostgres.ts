/** The properties of a machine that npm's PostgreSQL depends on. */
export interface Machine {
  readonly platform: NodeJS.Platform
  readonly arch: string
  /** Undefined where the C library is another, such as musl. */
  readonly glibc: string | undefined
}

const PLATFORMS = ["linux x64", "linux arm64", "darwin x64", "darwin arm64"]

/** Returns why npm has no PostgreSQL for a machine, with the lines that start one; undefined if npm has one. */
export const whyNoPostgres = ({ platform, arch, glibc }: Machine = thisMachine()): string | undefined => {
  if (!PLATFORMS.includes(`${platform} ${arch}`)) return explain(`npm has none for ${platform} ${arch}`, platform)
  if (platform !== "linux" || glibc !== undefined) return undefined
  return explain("npm has one for Linux with glibc, and this Linux has another C library, as Alpine does", platform)
}

const URL = "postgres://postgres:outreach@127.0.0.1:5432/postgres"

/** Explains in lines what to do where npm brings no PostgreSQL. */
export const explain = (
  cause: string,
  platform: NodeJS.Platform = process.platform,
): string => `No embedded PostgreSQL runs here: ${cause}. Start one, set DATABASE_URL in the same terminal, and try again:

  docker run --detach --name outreach-postgres --publish 127.0.0.1:5432:5432 --env POSTGRES_PASSWORD=outreach postgres:18
  ${platform === "win32" ? `$env:DATABASE_URL = "${URL}"` : `export DATABASE_URL=${URL}`}`

const thisMachine = (): Machine => {
  const { platform, arch, report } = process
  const { header } = report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } }
  return { platform, arch, glibc: header.glibcVersionRuntime }
}
