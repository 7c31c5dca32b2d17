import { readFile } from "node:fs/promises"
import { extname } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { hashOf, staticPage } from "./staticPage.ts"

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
}

/** Creates a page of a file, under an address that names its content, so that browsers may keep it for ever. */
export const asset = Effect.fnUntraced(function* (file: string) {
  const bytes = yield* Effect.promise(() => readFile(fileURLToPath(file)))
  const type = extname(file)
  const page = yield* staticPage(bytes, {
    "Content-Type": TYPES[type]!,
    "Cache-Control": "public, max-age=31536000, immutable",
  })
  return { path: `assets/${hashOf(bytes)}${type}`, page } as const
})
