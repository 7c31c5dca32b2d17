import { execFile } from "node:child_process"
import { access, mkdir, readFile, readlink, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { promisify } from "node:util"
import { REPOSITORY } from "./artifact.ts"

const run = promisify(execFile)

/**
 * Creates a simulated host for the commands of the documents: `home` contains their folders, and a `systemctl` that only
 * records its arguments.
 */
export const createHost = async (home: string, { node }: { readonly node: string }) => {
  const [bin, calls] = [join(home, "bin"), join(home, "systemctl.log")]
  const etc = join(home, "etc")
  const units = join(home, "units")
  const places = {
    "/opt/outreach": join(home, "opt"),
    "/etc/outreach": etc,
    "/etc/systemd/system": units,
    "/usr/local/bin": bin,
    "/usr/bin/node": node,
  }
  for (const folder of [etc, units, bin]) await mkdir(folder)
  await writeFile(join(bin, "systemctl"), `#!/bin/sh\necho "$@" >> ${calls}\n`, { mode: 0o755 })
  const here = (text: string) =>
    Object.entries(places).reduce((replaced, [place, ours]) => replaced.replaceAll(place, ours), text)

  return {
    etc,
    /** Folder of the running release. */
    current: join(home, "opt/current"),
    /** Runs the commands after a line of a page. Returns the release installed afterwards, and the arguments of `systemctl`. */
    follow: async (page: string, line: string) => {
      const text = await readFile(join(REPOSITORY, "docs", page), "utf8")
      const [, commands = ""] = /^```sh\n(.*?)^```$/ms.exec(text.slice(text.indexOf(`\n${line}`))) ?? []
      await writeFile(calls, "")
      await run("bash", ["-ec", here(commands)], { cwd: home, env: { PATH: `${bin}:${process.env["PATH"]}` } })
      // These files contain the paths, too.
      const program = join(bin, "outreach-ops")
      await writeFile(program, here(await readFile(program, "utf8")))
      for (const unit of ["outreach@.service", "outreach-migrate.service"]) {
        const [, started = ""] = /^ExecStart=.* (\S+\.js)/m.exec(here(await readFile(join(units, unit), "utf8"))) ?? []
        await access(started.replace("%i", "worker"))
      }
      return {
        release: basename(await readlink(join(home, "opt/current"))),
        systemctl: (await readFile(calls, "utf8")).trim().split("\n"),
      }
    },
    /** Runs the installed operators' command line. */
    outreachOps: async (...args: ReadonlyArray<string>) =>
      (await run(join(bin, "outreach-ops"), args, { cwd: home, env: { PATH: process.env["PATH"] } })).stdout,
  }
}
