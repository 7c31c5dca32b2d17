import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root, run } from "./run.ts"

/**
 * Packs `out/`, `deploy/` and the documents into an archive with one folder of the release's name. The same files make the same bytes: names are
 * sorted; owners, rights and times are fixed.
 */
export const packArchive = (file: string, name: string, epoch: string): void => {
  const staging = mkdtempSync(join(tmpdir(), "outreach-archive-"))
  try {
    cpSync(join(root, "out"), join(staging, name, "out"), { recursive: true })
    for (const path of run("git", [
      "ls-files",
      "deploy",
      "docs",
      "README.md",
      "apps/ops/README.md",
      "apps/ops/commands.md",
    ]).split("\n")) {
      if (path !== "deploy/package.json") cpSync(join(root, path), join(staging, name, path))
    }
    // For a Prometheus without the operator.
    const rules = readFileSync(join(root, "deploy/kubernetes/alerts.yaml"), "utf8").replace(/^.*?^spec:\n/ms, "")
    writeFileSync(join(staging, name, "deploy/alerts.yml"), rules.replaceAll(/^ {2}/gm, ""))
    const fixed = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go=rX", `--mtime=@${epoch}`]
    run("tar", ["--create", "--file", file, "--use-compress-program=gzip -9 -n", ...fixed, "-C", staging, name])
  } finally {
    rmSync(staging, { recursive: true })
  }
}
