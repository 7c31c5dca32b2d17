import { globSync } from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { unpackDebianPackages } from "./unpackDebianPackages.ts"

/** Returns the library that makes a process's clock wrong, or why there is none. */
export const findLibfaketime = async (): Promise<{ readonly library: string } | { readonly missing: string }> => {
  const found = await unpackDebianPackages(["libfaketime"], join(tmpdir(), `outreach-libfaketime-${userInfo().uid}`))
  if ("missing" in found) return found
  const [library] = globSync(join(found.folder, "usr/lib/*/faketime/libfaketime.so.1"))
  if (library === undefined) throw new Error("libfaketime brought no library")
  return { library }
}
