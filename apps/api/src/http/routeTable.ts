import { FindMyWay } from "effect/http"

/** A target with percent-decoded parameters; or, for another method, the value of `Allow` and the target of one of the path's methods. */
type Match<Target> =
  | { readonly target: Target; readonly parameters: Readonly<Record<string, string | undefined>> }
  | { readonly allow: string; readonly otherTarget: Target }

/**
 * Creates a function that finds the target of a method and a path; HEAD uses GET. Returns undefined for unknown paths.
 *
 * Parameters are in braces, `/v1/things/{id}`. Paths are compared after percent-decoding. A parameter with an invalid
 * escape is passed on undecoded, and rejected by its schema.
 */
export const routeTable = <Target>(
  routes: Iterable<readonly [method: string, path: `/${string}`, target: Target]>,
): ((method: string, path: string) => Match<Target> | undefined) => {
  const paths = FindMyWay.make<ReadonlyMap<string, Target>>({
    caseSensitive: true,
    ignoreTrailingSlash: false,
    ignoreDuplicateSlashes: false,
    maxParamLength: Number.POSITIVE_INFINITY,
  })
  const byPath = new Map<string, Map<string, Target>>()
  for (const [method, path, target] of routes) {
    byPath.set(path, (byPath.get(path) ?? new Map<string, Target>()).set(method, target))
  }
  for (const [path, targets] of byPath) {
    paths.on("ANY", path.replaceAll(/\{(\w+)\}/g, ":$1") as `/${string}`, targets)
  }

  return (method, path) => {
    const found = paths.find("ANY", decodable(path))
    if (found === undefined) return undefined
    const target = found.handler.get(method === "HEAD" ? "GET" : method)
    if (target !== undefined) return { target, parameters: { ...found.params } }
    const allow = [...found.handler.keys()].flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : name))
    return { allow: [...allow, "OPTIONS"].join(", "), otherTarget: found.handler.values().next().value! }
  }
}

// The matcher rejects invalid escapes, and treats ; and # as the start of a query.
const decodable = (path: string): string => {
  if (!/[;#%]/.test(path)) return path
  const escaped = path.replaceAll(/[;#]/g, encodeURIComponent)
  try {
    decodeURIComponent(escaped)
    return escaped
  } catch {
    return escaped.replaceAll("%", "%25")
  }
}
