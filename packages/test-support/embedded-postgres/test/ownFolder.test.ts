import { chmod, chown, mkdir, rm, stat, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import { ownFolder, persistentRoot } from "../src/paths.ts"
import { temporaryFolder } from "./temporaryFolder.ts"

const isRoot = process.getuid?.() === 0

test("a new folder can be entered but not written to by other users", async () => {
  const own = await ownFolder(join(await temporaryFolder(), "own"))
  expect((await stat(own)).mode & 0o777).toBe(0o711)
  expect(await ownFolder(own)).toBe(own)
})

test.each(["777", "731", "713", "1777"])("a folder that others may write is refused, as with mode %s", async (mode) => {
  const own = await ownFolder(join(await temporaryFolder(), "own"))
  await chmod(own, Number.parseInt(mode, 8))
  await expect(ownFolder(own)).rejects.toThrow("can be written by others; remove it.")
})

test.runIf(isRoot)("a folder that belongs to another user is rejected", async () => {
  const own = await ownFolder(join(await temporaryFolder(), "own"))
  await chown(own, 65534, 65534)
  await expect(ownFolder(own)).rejects.toThrow("belongs to another user")
})

test("a link or a file at its path is rejected", async () => {
  const root = await temporaryFolder()
  await symlink(root, join(root, "link"))
  await writeFile(join(root, "file"), "")
  for (const planted of ["link", "file"]) await expect(ownFolder(join(root, planted))).rejects.toThrow("remove it.")
})

test("the persistent root is rejected if another user has created it", async () => {
  // A user that no machine has, and whose root this test creates.
  const uid = 4_242_424
  const planted = `/var/tmp/outreach-postgres-${uid}`
  onTestFinished(() => rm(planted, { recursive: true, force: true }))
  await mkdir(planted, { mode: 0o711 })
  vi.spyOn(process, "getuid").mockReturnValue(uid)
  onTestFinished(() => void vi.restoreAllMocks())
  await expect(persistentRoot()).rejects.toThrow("belongs to another user")
})
