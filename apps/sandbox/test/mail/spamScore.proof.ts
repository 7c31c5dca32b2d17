import { execFile } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { afterAll, describe, expect, it } from "vitest"
import { composedMails, writeMessage } from "./composedMails.ts"

const unpacked = findProgram("spamassassin")
const home = temporaryFolder("spamassassin-home", afterAll)

/** Scores a message with the rules that don't need a network. */
const score = (message: string): Promise<{ score: number; report: string }> => {
  if ("missing" in unpacked) throw new Error(unpacked.missing)
  const { folder } = unpacked
  const modules = join(folder, "usr/lib/x86_64-linux-gnu/perl5")
  const args = [
    // SpamAssassin runs in Perl's taint mode, which ignores PERL5LIB.
    ...["-T", `-I${folder}/usr/share/perl5`, ...readdirSync(modules).map((version) => `-I${join(modules, version)}`)],
    ...[`${folder}/usr/bin/spamassassin`, "--local", "--test-mode", "--nocreate-prefs", "--prefspath=/dev/null"],
    ...[`--configpath=${folder}/usr/share/spamassassin`, `--siteconfigpath=${folder}/etc/spamassassin`],
  ]
  return new Promise((resolve, reject) => {
    const child = execFile(
      "perl",
      args,
      { env: { PATH: process.env["PATH"], HOME: home } },
      (error, stdout, stderr) => {
        const [, points] = /^X-Spam-Status: \w+, score=(-?[\d.]+)/m.exec(stdout) ?? []
        if (points === undefined) reject(error ?? new Error(`spamassassin gave no score: ${stderr}`))
        else resolve({ score: Number(points), report: stdout.slice(stdout.indexOf("Content analysis details")) })
      },
    )
    child.stdin!.end(message)
  })
}

describe.skipIf("missing" in unpacked)("SpamAssassin without network tests", () => {
  it.each(composedMails)("gives %s less than 2 points", async (_, mail) => {
    const { score: points, report } = await score(await writeMessage(mail))
    expect(points, report).toBeLessThan(2)
  })

  it("gives its own sample of spam more than 5 points, so it has its rules", async () => {
    const [, mail] = composedMails[0]!
    const spam = { ...mail, text: "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X" }
    expect((await score(await writeMessage(spam))).score).toBeGreaterThan(5)
  })
})
