import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import { describe, expect, it } from "vitest"

type Json = { readonly [key: string]: Json }

/** The published document; see docs/docsPages.test.ts. */
const document = openapi as never as Json
const schema = (name: string) => document["components"]!["schemas"]![name]!

const string = { type: "string" }
const boolean = { type: "boolean" }
const integer = { type: "integer" }
const number = { type: "number" }
const least = (minimum: number) => ({ minimum })
const arrayOf = (items: object) => ({ type: "array", items })
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const either = (...values: ReadonlyArray<string>) => ({ type: "string", enum: values })
const min1 = { type: "string", minLength: 1 }
const points = { type: "integer", minimum: 2, maximum: 10, default: 5 }
const strings = arrayOf(string)
const texts = (...names: ReadonlyArray<string>) => Object.fromEntries(names.map((name) => [name, string]))

/** The specification's draft resources with their required fields, as JSON Schema. */
const DRAFTS: Readonly<Record<string, { required: ReadonlyArray<string>; fields: Readonly<Record<string, object>> }>> =
  {
    SurveyInput: {
      required: ["title", "estimatedTime", "incentive"],
      fields: {
        title: { ...string, minLength: 1, maxLength: 200 },
        estimatedTime: {
          type: "object",
          required: ["min", "max"],
          properties: { min: { ...integer, ...least(1) }, max: { ...integer, ...least(1) } },
        },
        incentive: { ...number, ...least(0) },
        ...texts("description", "sponsor", "background", "directions", "outcomes"),
        briefDescription: { ...string, maxLength: 150 },
        format: { ...either("standard", "case-based"), default: "standard" },
        questions: arrayOf(ref("Question")),
        introQuestions: arrayOf(ref("Question")),
        cases: arrayOf(ref("Case")),
        closingQuestions: arrayOf(ref("Question")),
        targeting: ref("Targeting"),
      },
    },
    Question: {
      required: ["type", "text"],
      fields: {
        type: either("text", "single-choice", "multiple-choice", "scale", "yes-no", "number", "maxdiff", "compound"),
        text: min1,
        ...texts("description", "placeholder", "contextHeader"),
        required: { ...boolean, default: true },
        voiceEnabled: { ...boolean, default: false },
        validation: {
          type: "object",
          properties: { minLength: integer, maxLength: integer, min: number, max: number },
        },
        options: arrayOf({ anyOf: [string, ref("OptionObject")] }),
        allowOther: { ...boolean, default: false },
        maxSelections: integer,
        randomizeOptions: { ...boolean, default: false },
        points,
        labels: { type: "object", properties: { start: string, end: string, points: strings } },
        visualization: {
          ...either(
            ...["slider", "likert", "semantic", "descriptive", "frequency"],
            ...["comparative", "numerical", "graphic", "multi-dimension"],
          ),
          default: "likert",
        },
        showLabels: { ...boolean, default: true },
        showValue: { ...boolean, default: true },
        flipped: { ...boolean, default: false },
        yesText: { ...string, default: "Yes" },
        noText: { ...string, default: "No" },
        items: { ...strings, minItems: 4, maxItems: 20 },
        config: { type: "object", properties: { itemsPerTask: integer, totalTasks: integer } },
        subQuestions: arrayOf(ref("SubQuestion")),
      },
    },
    OptionObject: { required: ["text"], fields: { text: min1, value: string } },
    SubQuestion: {
      required: ["type", "label"],
      fields: {
        type: either("scale", "single-choice", "multiple-choice", "yes-no"),
        label: min1,
        required: { ...boolean, default: true },
        options: { type: "array" },
        points,
        labels: { type: "object", properties: { start: string, end: string } },
      },
    },
    Case: {
      required: ["title", "content", "questions"],
      fields: {
        title: min1,
        content: min1,
        questions: { ...arrayOf(ref("Question")), minItems: 1 },
        ...texts("ref", "prompt", "summary", "headerLabel", "reflectionLabel", "introLabel"),
        publication: ref("Publication"),
        keyPoints: strings,
      },
    },
    Publication: {
      required: ["type"],
      fields: {
        type: either("pdf", "link", "embedded", "text"),
        url: { ...string, format: "uri" },
        metadata: { type: "object", properties: { ...texts("journal", "authors", "title", "doi"), year: integer } },
      },
    },
    Targeting: { required: ["audiences"], fields: { audiences: { ...arrayOf(ref("AudienceInput")), minItems: 1 } } },
    AudienceInput: {
      required: [],
      fields: {
        name: string,
        roles: strings,
        specialtyCodes: strings,
        states: { type: "array", items: { type: "string" } },
        zipCodes: strings,
        compensation: { ...number, ...least(0) },
        quota: { ...integer, ...least(1) },
      },
    },
    SurveyCreated: {
      required: ["id", "title", "status", "questionCount", "createdAt"],
      fields: {
        id: { ...string, format: "uuid" },
        ...texts("title", "status"),
        questionCount: integer,
        createdAt: ref("Instant"),
      },
    },
    ValidateResult: {
      required: ["valid", "questionCount"],
      fields: { valid: boolean, questionCount: integer, caseCount: integer },
    },
    PresignResult: {
      required: ["url", "publicUrl", "expiresIn"],
      fields: { url: { ...string, format: "uri" }, publicUrl: { ...string, format: "uri" }, expiresIn: integer },
    },
  }

describe.each(Object.entries(DRAFTS))("the published draft of %s", (name, { required, fields }) => {
  it.each(Object.entries(fields))("has %s as the specification does", (field, rule) => {
    expect(schema(name)["properties"]![field]).toMatchObject(rule)
  })

  it(`has only the fields of the specification (required: ${required.join(", ") || "nothing"})`, () => {
    expect([...((schema(name)["required"] ?? []) as unknown as string[])].sort()).toEqual([...required].sort())
    expect(Object.keys(schema(name)["properties"]!).sort()).toEqual(Object.keys(fields).sort())
  })
})

describe.each([
  { operation: "POST /v1/surveys", body: "SurveyInput", success: "201", result: "SurveyCreated" },
  { operation: "POST /v1/surveys/validate", body: "SurveyInput", success: "200", result: "ValidateResult" },
  { operation: "GET /v1/uploads/presign", body: null, success: "200", result: "PresignResult" },
])("the published draft of $operation", ({ operation, body, success, result }) => {
  const row = () => {
    const [method, path] = operation.split(" ") as [string, string]
    return document["paths"]![path]![method.toLowerCase()]!
  }
  const contentOf = (status: string) => row()["responses"]![status]!["content"]!["application/json"]!["schema"]

  it(`is marked as a draft, accepts ${body ?? "no body"}, and returns ${success} with ${result} and errors in the legacy envelope`, () => {
    expect(row()["x-draft"]).toBe(true)
    expect(row()["requestBody"]?.["content"]?.["application/json"]?.["schema"]).toEqual(body ? ref(body) : undefined)
    expect(contentOf(success)).toEqual(ref(result))
    for (const status of body ? ["400", "401"] : ["401"]) expect(contentOf(status)).toEqual(ref("LegacyError"))
  })
})

describe("the published draft of GET /v1/uploads/presign", () => {
  it("takes filename, and contentType that is application/pdf unless given", () => {
    const parameters = document["paths"]!["/v1/uploads/presign"]!["get"]![
      "parameters"
    ] as unknown as ReadonlyArray<Json>
    expect(parameters.filter((parameter) => (parameter["in"] as unknown) === "query")).toMatchObject([
      { name: "filename", required: true, schema: string },
      { name: "contentType", schema: { ...string, default: "application/pdf" } },
    ])
  })
})

describe("the legacy envelope", () => {
  it("has a code, a message and optional errors, each with code, path and message", () => {
    const { properties, required } = schema("LegacyError")["properties"]!["error"] as Json
    expect([properties!["code"], properties!["message"], required]).toMatchObject([string, string, ["code", "message"]])
    const element = properties!["errors"]!["items"]
    expect(element).toMatchObject({
      properties: texts("code", "path", "message"),
      required: ["code", "path", "message"],
    })
  })
})
