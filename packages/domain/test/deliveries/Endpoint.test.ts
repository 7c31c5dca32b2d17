import { Result } from "effect"
import { expect, it } from "vitest"
import { EndpointUrl, PrivateEndpointUrl } from "../../src/deliveries/Endpoint.ts"
import { parseInput } from "../../src/textSchema.ts"

const https = "it must start with https://"
const notPublic = "its address is not a public one"
const table: ReadonlyArray<[url: string, strict: string | undefined, allowingHttp: string | undefined]> = [
  ["https://partner.example/webhooks", undefined, undefined],
  ["https://partner.example:8443/webhooks?team=a", undefined, undefined],
  ["HTTPS://PARTNER.EXAMPLE", undefined, undefined],
  ["https://partner.example:443/", undefined, undefined],
  ["https://partner.example:1024/", undefined, undefined],
  ["https://partner.example:1023/", "its port must be 443, or 1024 or above", undefined],
  ["https://partner.example:22/", "its port must be 443, or 1024 or above", undefined],
  ["https://partner.example:0/", "its port must not be 0", "its port must not be 0"],
  ["http://localhost:9000/webhooks", https, undefined],
  ["ftp://partner.example/", https, https],
  ["file:///etc/passwd", https, https],
  ["javascript:alert(1)", https, https],
  ["", "it is not an absolute URL", "it is not an absolute URL"],
  ["/webhooks", "it is not an absolute URL", "it is not an absolute URL"],
  ["partner.example/webhooks", "it is not an absolute URL", "it is not an absolute URL"],
  ["https://", "it is not an absolute URL", "it is not an absolute URL"],
  ["https://user@partner.example/", "it must not contain credentials", "it must not contain credentials"],
  ["https://:secret@partner.example/", "it must not contain credentials", "it must not contain credentials"],
  ["https://partner.example/#part", "it must not contain a fragment", "it must not contain a fragment"],
  ["https://10.0.0.1/", notPublic, undefined],
  ["https://0x7f.1/", notPublic, undefined],
  ["https://[::1]:8443/", notPublic, undefined],
  ["https://93.184.216.34/", undefined, undefined],
]

it.each(table)("EndpointUrl judges %j", (url, strict, allowingHttp) => {
  const reasons = [EndpointUrl, PrivateEndpointUrl].map(
    (schema) => Result.getOrUndefined(Result.flip(parseInput(schema)(url)))?.reason,
  )
  expect(reasons).toEqual([strict, allowingHttp])
})
