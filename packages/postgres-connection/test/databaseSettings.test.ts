import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { databaseConnections, databaseSettings } from "@outreach/postgres-connection/databaseSettings"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { type Config, ConfigProvider, Duration, Effect, Redacted } from "effect"
import { afterAll, describe, expect, it } from "vitest"

const folder = temporaryFolder("settings", afterAll)
const path = (name: string) => fileURLToPath(new URL(`./data/${name}`, import.meta.url))

/** Reads a setting. Returns the message of a failure. */
const read = <A>(setting: Config.Config<A>, env: Record<string, string>): A | string =>
  setting.pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.match({ onSuccess: (value) => value, onFailure: (error) => (error.cause as Error).message }),
    Effect.runSync,
  )
const readAll = (env: Record<string, string>) => {
  const settings = read(databaseSettings, env)
  if (typeof settings === "string") throw new Error(settings)
  return settings
}
const addressOf = (DATABASE_URL: string) => readAll({ DATABASE_URL }).address
const sentenceOf = (DATABASE_URL: string) => read(databaseSettings, { DATABASE_URL })

it("CLOCK_SKEW_SECONDS is a minute by default, and at most an hour", () => {
  const skew = (CLOCK_SKEW_SECONDS: string) =>
    read(databaseSettings, { DATABASE_URL: "postgres://h", CLOCK_SKEW_SECONDS })
  expect(skew("")).toMatchObject({ clockSkewSeconds: 60 })
  expect(skew("3600")).toMatchObject({ clockSkewSeconds: 3600 })
  const sentence = "CLOCK_SKEW_SECONDS is malformed. It must be seconds from 1 to 3600."
  expect([skew("0"), skew("3601"), skew("1m")]).toEqual([sentence, sentence, sentence])
})

describe("DATABASE_URL", () => {
  it.each<[string, object]>([
    ["postgres://u:p%40@h:6543/d", { hosts: [{ host: "h", port: 6543 }], database: "d", username: "u" }],
    ["postgresql://h", { hosts: [{ host: "h", port: 5432 }], database: undefined, username: undefined }],
    ["postgres://u@[::1]/d", { hosts: [{ host: "::1" }], username: "u" }],
    ["postgres://u@/d?host=/run/postgresql", { hosts: [{ host: "/run/postgresql" }], tls: { use: "never" } }],
    [
      "postgres://%2Frun%2Fpostgresql?sslmode=verify-full",
      { hosts: [{ host: "/run/postgresql" }], username: undefined },
    ],
    ["postgres://u@", { hosts: [{ host: "localhost", port: 5432 }], password: undefined }],
    ["postgres:///?host=h&port=1&dbname=d&user=u", { hosts: [{ host: "h", port: 1 }], database: "d", username: "u" }],
    ["postgres://h", { targetSession: "any" }],
    ["postgres://h?application_name=a&options=-c%20geqo%3Doff", { applicationName: "a", options: "-c geqo=off" }],
    ["postgres://h?connect_timeout=3", { connectTimeout: Duration.seconds(3) }],
    ["postgres://h?connect_timeout=0", { connectTimeout: Duration.infinity }],
    ["postgres://h", { tls: { use: "offered", options: { rejectUnauthorized: false } } }],
    ["postgres://h?sslmode=", { tls: { use: "offered" } }],
    ["postgres://h?sslmode=disable&sslrootcert=/nowhere", { tls: { use: "never" } }],
    ["postgres://h?sslmode=require", { tls: { use: "always", options: { rejectUnauthorized: false } } }],
  ])("is read from %s as libpq reads it", (url, expected) => {
    expect(addressOf(url)).toMatchObject(expected)
  })

  it.each<[string, ReadonlyArray<string>]>([
    ["postgres://u:p@a:1,b:2/d", ["a:1", "b:2"]],
    ["postgres://a,[::1]:2", ["a:5432", "::1:2"]],
    ["postgres://a,b?port=7", ["a:7", "b:7"]],
    ["postgres:///d?host=a,/run,&port=1,,3", ["a:1", "/run:5432", "localhost:3"]],
    ["postgres://x,y?host=a,b", ["a:5432", "b:5432"]],
  ])("names the hosts of %s in their order", (url, expected) => {
    expect(addressOf(url).hosts.map(({ host, port }) => `${host}:${port}`)).toEqual(expected)
  })

  it.each(["any", "read-write", "primary"])("may ask for sessions of the kind %s", (targetSession) => {
    expect(addressOf(`postgres://a,b?target_session_attrs=${targetSession}`)).toMatchObject({ targetSession })
  })

  it("keeps the password out of sight", () => {
    for (const url of ["postgres://u:p%40ss@h/d", "postgres://u@h/d?password=p%40ss"]) {
      const address = addressOf(url)
      expect(Redacted.value(address.password!)).toBe("p@ss")
      expect(`${JSON.stringify(address)}${address.password}`).not.toContain("p@ss")
    }
  })

  it("can be read from a file", () => {
    const sentence = "The file of DATABASE_URL_FILE does not exist."
    expect(read(databaseSettings, { DATABASE_URL_FILE: "/nowhere" })).toBe(sentence)
    writeFileSync(join(folder, "url"), "postgres://from-a-file/d\n")
    expect(readAll({ DATABASE_URL_FILE: join(folder, "url") }).address.hosts[0]!.host).toBe("from-a-file")
  })

  it("is required", () => {
    expect(read(databaseSettings, {})).toBe("DATABASE_URL is not set. It must be a postgres:// address.")
    expect(sentenceOf("")).toBe("DATABASE_URL is not set. It must be a postgres:// address.")
  })

  it.each(["mysql://h/d", "h:5432", " ", "postgres://h:99999/d", "postgres://a,b:x/d", "none"])(
    "is refused when it is %j",
    (url) => {
      expect(sentenceOf(url)).toBe("DATABASE_URL is malformed. It must be a postgres:// address.")
    },
  )

  it.each(["12/3", "p@x/3", "12#3", "12?3"])("is refused when its password has a raw delimiter: %j", (password) => {
    const sentence = sentenceOf(`postgres://me:${password}@db.example/d`)
    expect(sentence).toMatch(/^DATABASE_URL is malformed: its user or password has a raw/)
    expect(sentence).not.toContain(password)
  })

  it.each([
    ["sslmod=require", /: the parameter sslmod is not known; the known ones are host, .*sslmode, sslrootcert/],
    ["password=a&bcd=e", /: a parameter is not known; /],
    ["port=none", /: port is not a whole number from 1 to 65535\./],
    ["port=1,2", /: port has 2 numbers for 1 hosts\./],
    ["target_session_attrs=rw", /: target_session_attrs is not one of any, read-write, primary\./],
    ["connect_timeout=3s", /: connect_timeout is not a whole number/],
    ["sslmode=REQUIRE", /: sslmode is not one of disable, allow, prefer, require, verify-ca, verify-full\./],
    ["sslmode=verify-ca", /: sslmode=verify-ca needs sslrootcert\./],
    ["sslmode=require&sslrootcert=system", /: sslrootcert=system needs sslmode=verify-full/],
    ["sslrootcert=/nowhere", /: the file of sslrootcert does not exist\./],
    [`sslrootcert=${folder}`, /: the file of sslrootcert cannot be read \(EISDIR\)\./],
    [`sslrootcert=${path("certified.key")}`, /: the file of sslrootcert does not hold certificates in PEM\./],
    [`sslcert=${path("certified.crt")}`, /: sslcert and sslkey need each other\./],
    [`sslcert=${path("certified.crt")}&sslkey=/nowhere`, /: the file of sslkey does not exist\./],
    [
      `sslcert=${path("certified.crt")}&sslkey=${path("localhost.key")}`,
      /: the files of sslcert and sslkey do not hold/,
    ],
  ])("is refused with the parameters %s, in a sentence that names what is wrong", (parameters, sentence) => {
    expect(sentenceOf(`postgres://u:hunter2@h/d?${parameters}`)).toMatch(sentence)
    expect(sentenceOf(`postgres://u:hunter2@h/d?${parameters}`)).not.toMatch(/hunter2|bcd/)
  })

  it("is rejected when a part of it is not percent-encoded", () => {
    expect(sentenceOf("postgres://u:100%@h/d")).toMatch(/: a % in it does not begin the code of a character\./)
  })

  // Root can read every file.
  it.skipIf(process.getuid?.() === 0)("is rejected when a certificate is not readable", () => {
    writeFileSync(join(folder, "closed.crt"), "")
    chmodSync(join(folder, "closed.crt"), 0)
    expect(sentenceOf(`postgres://h?sslrootcert=${join(folder, "closed.crt")}`)).toMatch(/cannot be read \(EACCES\)/)
  })
})

describe("in production", () => {
  const inProduction = (DATABASE_URL: string, others: Record<string, string> = {}) =>
    read(databaseSettings, { DEPLOYMENT: "production", DATABASE_URL, ...others })
  const refusal = /^DATABASE_URL may send data unencrypted to another machine.+ DATABASE_ALLOW_PLAINTEXT to true\.$/

  it.each(["", "?sslmode=disable", "?sslmode=allow", "?sslmode=prefer", "?host=10.0.0.7", "?host=localhost,10.0.0.7"])(
    "a database on another machine is refused with %j",
    (parameters) => {
      expect(inProduction(`postgres://db.test/d${parameters}`)).toMatch(refusal)
    },
  )

  it.each([
    ...["postgres://db.test/d?sslmode=require", "postgres://db.test/d?sslrootcert=system"],
    ...["postgres://localhost/d", "postgres://127.9.9.9/d?sslmode=disable", "postgres://[::1]/d", "postgres://u@/d"],
    ...["postgres://[::ffff:127.0.0.1]/d", "postgres:///d?host=/run/postgresql"],
    "postgres://localhost,127.0.0.2:1/d",
  ])("%s is taken", (url) => {
    expect(inProduction(url)).toMatchObject({ pooler: "none" })
  })

  it("plain text is accepted if a setting allows it, and always outside production", () => {
    expect(inProduction("postgres://db.test/d", { DATABASE_ALLOW_PLAINTEXT: "true" })).toMatchObject({ pooler: "none" })
    expect(inProduction("postgres://db.test/d", { DEPLOYMENT: "staging" })).toMatchObject({ pooler: "none" })
  })

  it("the listen address must meet the same requirements", () => {
    const DATABASE_LISTEN_URL = "postgres://db.test/d"
    expect(inProduction("postgres://localhost/d", { DATABASE_LISTEN_URL })).toMatch(/^DATABASE_LISTEN_URL may send/)
  })
})

describe("behind a pooler", () => {
  const DATABASE_URL = "postgres://pooler/d"

  it("the database itself has a separate address", () => {
    const settings = readAll({ DATABASE_URL, DATABASE_LISTEN_URL: "postgres://db/d" })
    expect(settings).toMatchObject({
      address: { hosts: [{ host: "pooler" }] },
      directAddress: { hosts: [{ host: "db" }] },
      pooler: "transaction",
    })
    expect(readAll({ DATABASE_URL }).directAddress.hosts[0]!.host).toBe("pooler")
  })

  it("the address of the database itself may be in a file", () => {
    const file = { DATABASE_LISTEN_URL_FILE: "/nowhere" }
    expect(read(databaseSettings, { DATABASE_URL, ...file })).toBe(
      "The file of DATABASE_LISTEN_URL_FILE does not exist.",
    )
  })

  it("a DATABASE_URL that requires a certain kind of server is rejected", () => {
    const through = { DATABASE_LISTEN_URL: "postgres://a,b/d?target_session_attrs=primary" }
    expect(read(databaseSettings, { DATABASE_URL, ...through })).toMatchObject({ pooler: "transaction" })
    expect(
      read(databaseSettings, { DATABASE_URL: `${DATABASE_URL}?target_session_attrs=primary`, ...through }),
    ).toMatch(/^DATABASE_URL has target_session_attrs, which a pooler in transaction mode does not follow/)
  })

  it("an invalid setting is reported", () => {
    const DATABASE_LISTEN_URL = "postgres://db?x=y"
    expect(read(databaseSettings, { DATABASE_URL, DATABASE_LISTEN_URL })).toMatch(
      /^DATABASE_LISTEN_URL is malformed: the parameter x is not known/,
    )
  })
})

it("reads how many connections a process has", () => {
  expect(read(databaseConnections("worker"), {})).toBe(10)
  expect(read(databaseConnections("worker"), { DATABASE_CONNECTIONS: "40" })).toBe(40)
  const sentence = "DATABASE_CONNECTIONS is malformed. It must be a whole number from 2 to 1000."
  expect(read(databaseConnections("worker"), { DATABASE_CONNECTIONS: "1" })).toBe(sentence)
})
