import { execFile } from "node:child_process"
import { access, chmod, copyFile, glob, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises"
import { userInfo } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { afterTests } from "@outreach/testing/afterTests"
import { mailServer } from "@outreach/testing/mailServer"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { beforeAll, expect, it } from "vitest"
import { artifactIn, REPOSITORY } from "./artifact.ts"

/** Files of a release. `RELEASE_FOLDER` is a release with an image; the short form creates one without. */
const release = resolve(REPOSITORY, process.env["RELEASE_FOLDER"] ?? "dist/release")
const run = async (command: string, args: ReadonlyArray<string>, cwd = release): Promise<string> =>
  (await promisify(execFile)(command, args, { cwd, maxBuffer: 2 ** 26 })).stdout.trim()
const asRoot = (...command: readonly [string, ...ReadonlyArray<string>]) =>
  userInfo().uid === 0 ? run(command[0], command.slice(1)) : run("sudo", command)

const atEnd = afterTests()
let folder: string
let files: ReadonlyArray<string>
/** The archive's only folder, unpacked in an empty place. */
let unpacked: string
let database: Awaited<ReturnType<typeof startPostgres>>
beforeAll(async () => {
  folder = temporaryFolder("release", atEnd)
  await chmod(folder, 0o755)
  if (process.env["RELEASE_FOLDER"] === undefined) {
    await run(process.execPath, ["tools/release/makeRelease.ts", "--without-image"], REPOSITORY)
  }
  files = await readdir(release)
  await run("tar", ["--extract", "--file", join(release, files.find((file) => file.endsWith(".tar.gz"))!)], folder)
  unpacked = join(folder, (await readdir(folder))[0]!)
  database = await startPostgres()
  atEnd(database.stop)
})

const nameOfRelease = async (): Promise<string> =>
  JSON.parse(await readFile(join(unpacked, "out/package.json"), "utf8")).version

/** Starts each process of `<from>/out`, and expects the release's name wherever a process reports it. */
const expectNamedProcesses = async (from: string, node?: string) => {
  const name = await nameOfRelease()
  const mail = await mailServer()
  const settings = () => ({ DATABASE_URL: database.url, SMTP_URL: mail.url })
  const { ops, start } = artifactIn(from, settings, node === undefined ? {} : { node })
  expect(await ops("--version")).toBe(`ops v${name}\n`)
  await ops("migrate")
  const processes = {
    "outreach-api": await start("api"),
    "outreach-worker": await start("worker"),
    "outreach-console": await start("console"),
  }
  for (const { lines } of Object.values(processes))
    expect(lines.map(({ annotations }) => annotations["version"])).toContain(name)
  const health = await fetch(`${processes["outreach-api"].url}/v1/health`)
  expect(await health.json()).toMatchObject({ status: "ok", version: name })

  const { rows } = await withClient(database.url, (client) =>
    client.query("select distinct application_name as name from pg_stat_activity"),
  )
  expect(rows.map((row) => row.name)).toEqual(
    expect.arrayContaining(Object.keys(processes).map((process) => `${process}/${name}`)),
  )
  expect(await Promise.all(Object.values(processes).map((process) => process.kill("SIGTERM")))).toEqual([0, 0, 0])
}

it("names every file with its checksum, and a changed byte is found", async () => {
  const sums = (await readFile(join(release, "SHA256SUMS"), "utf8")).trim().split("\n")
  expect([...sums.map((line) => line.split("  ")[1])].toSorted()).toEqual(
    files.filter((file) => !["SHA256SUMS", "NOTES.md"].includes(file)).toSorted(),
  )
  await run("sha256sum", ["--check", "--strict", "SHA256SUMS"])

  const copy = await mkdtemp(join(folder, "changed-"))
  for (const file of files) if (!file.endsWith(".oci.tar")) await copyFile(join(release, file), join(copy, file))
  const archive = join(copy, files.find((file) => file.endsWith(".tar.gz"))!)
  const bytes = await readFile(archive)
  bytes[1000]! ^= 1
  await writeFile(archive, bytes)
  await expect(run("sha256sum", ["--check", "--ignore-missing", "SHA256SUMS"], copy)).rejects.toThrow(
    "1 computed checksum did NOT match",
  )
})

it("rejects a tag that doesn't match the version before it builds", async () => {
  const made = run(process.execPath, ["tools/release/makeRelease.ts", "--tag", "v999.0.0"], REPOSITORY)
  await expect(made).rejects.toThrow(
    /The tag is v999\.0\.0, and what stands here is .+: the tag of a release is v\d+\.\d+\.\d+/,
  )
})

it("lists in its SBOM exactly the packages with code in the bundle", async () => {
  const sources = new Set<string>()
  for await (const map of glob(join(unpacked, "out/{main,chunks}/*.js.map"))) {
    for (const source of JSON.parse(await readFile(map, "utf8")).sources as ReadonlyArray<string>) sources.add(source)
  }
  const bundled = [...sources].flatMap((source) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1] ?? [])
  const { metadata, components } = JSON.parse(await readFile(join(unpacked, "out/sbom.json"), "utf8"))
  expect(metadata.component).toMatchObject({ name: "outreach-partner-api", version: await nameOfRelease() })
  const listed = components.map((it: { group?: string; name: string }) =>
    it.group === undefined ? it.name : `${it.group}/${it.name}`,
  ) as ReadonlyArray<string>
  const ofNpm = listed.filter((name) => !name.startsWith("@outreach/"))
  expect([...new Set(ofNpm)].toSorted()).toEqual([...new Set(bundled)].toSorted())
  expect(listed).toEqual(
    expect.arrayContaining(["@outreach/api", "@outreach/worker", "@outreach/ops", "@outreach/console"]),
  )
  expect(components.filter((it: { version?: string }) => it.version === undefined)).toEqual([])
})

it("includes the runbook of every alert in the archive", async () => {
  const alerts = await readFile(join(unpacked, "deploy/alerts.yml"), "utf8")
  const pages = new Set([...alerts.matchAll(/runbook: ([^#\s]+)#/g)].map(([, page]) => page!))
  expect(pages.size).toBeGreaterThan(0)
  for (const page of pages) await access(join(unpacked, page))
})

it("starts with only the archive, and every process reports the release", async () => {
  await expectNamedProcesses(unpacked)
})

it("starts with only the image, and every process reports the release", async ({ skip }) => {
  const archive = files.find((file) => file.endsWith(".oci.tar"))
  if (archive === undefined) return skip("the release was made without its image: pnpm prove:release makes it")
  let image: string | undefined
  const container = await asRoot("buildah", "from", "--quiet", `oci-archive:${join(release, archive)}`)
  try {
    const entry = ["/bin/sh", "/app/entrypoint.sh"]
    const { FromImageID, OCIv1 } = JSON.parse(await asRoot("buildah", "inspect", container))
    image = FromImageID
    const { config } = OCIv1
    expect(config).toMatchObject({ User: "10001:10001", WorkingDir: "/app", Entrypoint: entry, StopSignal: "SIGTERM" })
    const printed = await asRoot("buildah", "run", "--isolation=chroot", container, "--", ...entry, "ops", "--version")
    expect(printed).toBe(`ops v${await nameOfRelease()}`)

    // Simulates a container engine: the image's files, user and entry point; signals reach the process.
    const node = join(folder, "engine.sh")
    const root = await asRoot("buildah", "mount", container)
    const environment = ["env", `--chdir=${config.WorkingDir}`, ...config.Env]
    const sudo = userInfo().uid === 0 ? [] : ["sudo", "--preserve-env"]
    const process = [...sudo, "chroot", `--userspec=${config.User}`, root, ...environment, ...entry]
    await writeFile(
      node,
      `#!/bin/sh
[ "$1" = --enable-source-maps ] && shift
name=$(basename "$1" .js)
shift
exec ${process.join(" ")} "$name" "$@"
`,
    )
    await chmod(node, 0o755)
    await expectNamedProcesses(folder, node)
  } finally {
    await asRoot("buildah", "rm", container)
    if (image !== undefined) await asRoot("buildah", "rmi", image)
  }
})
