import { expect, it } from "vitest"
import { whyNoPostgres } from "../src/whyNoPostgres.ts"

const glibc = "2.36"

it("finds no problem with this machine, with Linux or with macOS", () => {
  expect(whyNoPostgres()).toBeUndefined()
  for (const arch of ["x64", "arm64"]) {
    expect(whyNoPostgres({ platform: "linux", arch, glibc })).toBeUndefined()
    expect(whyNoPostgres({ platform: "darwin", arch, glibc: undefined })).toBeUndefined()
  }
})

it.each([
  [{ platform: "linux", arch: "x64", glibc: undefined }, "as Alpine does", "\n  export DATABASE_URL=postgres://"],
  [{ platform: "win32", arch: "x64", glibc: undefined }, "for win32 x64", '\n  $env:DATABASE_URL = "postgres://'],
  [{ platform: "linux", arch: "s390x", glibc }, "for linux s390x", "\n  export DATABASE_URL=postgres://"],
  [{ platform: "freebsd", arch: "x64", glibc: undefined }, "for freebsd x64", "\n  export DATABASE_URL=postgres://"],
] as const)("names the cause on %o, and the lines that start a PostgreSQL", (machine, cause, line) => {
  const text = whyNoPostgres(machine)!
  expect(text.split("\n")[0]).toContain(cause)
  expect(text).toContain("\n  docker run --detach ")
  expect(text).toContain(line)
})
