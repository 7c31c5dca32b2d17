import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root, run, runAsRoot } from "./run.ts"

/** Files of Debian that no process needs: manuals and translations. The licenses stay. */
const LEFT_OUT = ["/usr/share/man/*", "/usr/share/locale/*", "/usr/share/doc/*", "/usr/share/info/*"]

/** A Debian package of the image. */
export interface DebianPackage {
  readonly name: string
  readonly version: string
  readonly architecture: string
}

/**
 * Builds the image from the essential packages of Debian, this Node and `out/`, by the last stage of `deploy/Containerfile`. Writes it as an OCI
 * archive. It needs no daemon and no registry, and with `buildah --isolation=chroot` no namespaces, which many machines forbid.
 */
export const buildImage = (
  file: string,
  {
    tag,
    release,
    epoch,
  }: {
    readonly tag: string
    readonly release: string
    readonly epoch: string
  },
): ReadonlyArray<DebianPackage> => {
  const staging = mkdtempSync(join(tmpdir(), "outreach-image-"))
  const buildah = (...args: ReadonlyArray<string>) => runAsRoot("buildah", args)
  const [base, image] = [`localhost/outreach-node:${tag}`, `localhost/outreach-partner-api:${tag}`]
  try {
    const debian = join(staging, "debian.tar")
    const excluded = LEFT_OUT.map((path) => `--dpkgopt=path-exclude=${path}`)
    const kept = "--dpkgopt=path-include=/usr/share/doc/*/copyright"
    const options = ["--quiet", "--variant=essential", "--include=libstdc++6", ...excluded, kept]
    runAsRoot("mmdebstrap", [...options, "bookworm", debian], { SOURCE_DATE_EPOCH: epoch })

    cpSync(join(root, "out"), join(staging, "src/out"), { recursive: true })
    const container = buildah("from", "scratch")
    buildah("add", "--quiet", container, debian, "/")
    buildah("copy", "--quiet", "--chmod=755", container, process.execPath, "/usr/local/bin/node")
    buildah("commit", "--quiet", "--rm", "--timestamp", epoch, container, base)
    buildah(
      ...["build", "--quiet", "--isolation=chroot", "--timestamp", epoch, "--file", "deploy/Containerfile"],
      ...[
        "--build-arg",
        `NODE_IMAGE=${base}`,
        "--build-context",
        `build=${staging}`,
        "--label",
        `org.opencontainers.image.version=${release}`,
      ],
      ...["--tag", image, root],
    )
    buildah("push", "--quiet", image, `oci-archive:${file}:outreach-partner-api:${tag}`)
    buildah("rmi", image, base)
    return debianPackages(run("tar", ["--extract", "--to-stdout", "--file", debian, "./var/lib/dpkg/status"]))
  } finally {
    rmSync(staging, { recursive: true })
  }
}

const debianPackages = (status: string): ReadonlyArray<DebianPackage> =>
  status.split("\n\n").map((entry) => {
    const field = (name: string) => new RegExp(`^${name}: (.+)$`, "m").exec(entry)![1]!
    return { name: field("Package"), version: field("Version"), architecture: field("Architecture") }
  })
