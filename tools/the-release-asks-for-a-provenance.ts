/**
 * Publishes a package to a stand-in for npm, with the environment of the release workflow and of a GitHub runner: pnpm must request the identity
 * that signs the provenance from GitHub. The stand-in's identity is worthless, so nothing is signed or published.
 */
import { execFile } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import { publishedPackages, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

interface Workflow {
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly permissions?: Readonly<Record<string, string>>
        readonly steps?: readonly {
          readonly uses?: string
          readonly with?: object
          readonly env?: Readonly<Record<string, string>>
        }[]
      }
    >
  >
}

const violations: string[] = []
const { jobs } = parse(readFileSync(join(root, ".github/workflows/release.yml"), "utf8")) as Workflow
const step = jobs["packages"]?.steps?.find((it) => it.with !== undefined && "publish-script" in it.with)
if (step === undefined) violations.push("release.yml has no step that publishes")
for (const job of ["packages", "publish"]) {
  if (jobs[job]?.permissions?.["id-token"] !== "write")
    violations.push(`release.yml: ${job} may not ask for an identity`)
}
const attested = jobs["publish"]?.steps?.filter((it) => it.uses?.startsWith("actions/attest@")).map((it) => it.with)
for (const subject of ["subject-checksums", "subject-digest"]) {
  if (!attested?.some((inputs) => inputs !== undefined && subject in inputs))
    violations.push(`release.yml attests no ${subject}`)
}

const requests: string[] = []
const server = createServer((request, response) => {
  requests.push(`${request.method} ${request.url}`)
  const isIdentity = request.url?.startsWith("/identity")
  // A token without claims.
  response.writeHead(isIdentity ? 200 : 404, { "content-type": "application/json" }).end('{"value":"e30.e30.x"}')
})
server.listen(0, "127.0.0.1")
await once(server, "listening")
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
const home = mkdtempSync(join(tmpdir(), "outreach-provenance-"))
try {
  writeFileSync(join(home, ".npmrc"), `//${host}/:_authToken=none\n`)
  const env = {
    ...process.env,
    HOME: home,
    CI: "true",
    GITHUB_ACTIONS: "true",
    GITHUB_REPOSITORY: "example/outreach-partner-api",
    ACTIONS_ID_TOKEN_REQUEST_URL: `http://${host}/identity`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: "none",
    ...step?.env,
  }
  const { folder } = publishedPackages()[0]!
  const args = ["publish", "--no-git-checks", "--registry", `http://${host}/`, "--json"]
  const output = await new Promise<string>((resolve) => {
    execFile("pnpm", args, { cwd: folder, env, timeout: 60_000 }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
  if (!requests.some((it) => /^GET \/identity\?.*audience=sigstore/.test(it))) {
    violations.push(`pnpm publish asks for no identity to sign a provenance with:\n${requests.join("\n")}\n${output}`)
  }
} finally {
  server.close()
  rmSync(home, { recursive: true, force: true })
}
report(violations, `${requests.length} requests`)
