/** A change that breaks a promise, and the output that its script must then print. */
export interface SeededViolation {
  /** Replaces a text of a file. The file must contain the text. */
  readonly replace?: ReadonlyArray<readonly [file: string, before: string, after: string]>
  /** Creates files, or appends to existing ones. */
  readonly append?: Readonly<Record<string, string>>
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** The script's output because of this change. */
  readonly says: ReadonlyArray<RegExp>
  /** Whether it takes more than some seconds. Then only `pnpm prove:promises` runs it. */
  readonly isSlow?: boolean
}

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

/**
 * The changes by the script of `tools/` that checks the promise; scripts that only run a public program have none. They share one copy of the
 * repository, so none may hide another.
 */
export const SEEDED_VIOLATIONS: Readonly<Record<string, SeededViolation>> = {
  "a-new-field-and-a-new-event-are-pointed-at-wherever-they-are-missing": {
    replace: [
      [
        "packages/domain/src/events/outgoingEvents.ts",
        '{ readonly [Type in OutreachEventType]: OutgoingEvent<(typeof EVENT_TYPES)[Type]["recipients"]> }',
        'Readonly<Record<string, OutgoingEvent<"one">>>',
      ],
    ],
    says: [/nothing points at its stamp, timeline, digest, hits and erasure/],
    isSlow: true,
  },
  "commands-name-our-packages-with-their-scope": {
    // In parts, because the promise reads this file.
    append: { "docs/seeded.md": `${["npx", "webhook-verifier", "listen"].join(" ")}\n` },
    says: [/docs\/seeded\.md names webhook-verifier/],
  },
  "every-document-is-listed-and-its-links-and-commands-exist": {
    append: {
      "docs/seeded.md":
        "[nowhere](nowhere.md) [no heading](#none)\n\n```sh\npnpm seeded\npnpm ops keys seeded\n```\n\n`ops keys list --seeded`\n\n| cut off |\n",
      "docs/decisions/0999-seeded.md": "# 999. Seeded\n",
      "packages/cursor/src/seeded.ts": "// docs/nowhere.md\n",
    },
    says: [
      /README\.md does not list docs\/seeded\.md/,
      /docs\/seeded\.md links to nowhere\.md/,
      /docs\/seeded\.md links to #none/,
      /docs\/seeded\.md shows the command seeded/,
      /docs\/seeded\.md shows `ops keys seeded`/,
      /docs\/seeded\.md shows `ops keys list --seeded`/,
      /docs\/seeded\.md has a table without a head/,
      /does not list \[Seeded\]/,
      /seeded\.ts names docs\/nowhere\.md/,
    ],
  },
  "every-path-and-symbol-of-the-flows-exists": {
    append: { "docs/flows.md": "\n`apps/api/src/seeded.ts`, `seededSymbol`, and `readBody` in `decide.ts`.\n" },
    says: [/names apps\/api\/src\/seeded\.ts/, /names seededSymbol/, /names readBody, which is not in decide\.ts/],
  },
  "every-published-change-carries-a-changeset": {
    replace: [[".changeset/cursor.md", "@outreach/cursor", "@outreach/seeded"]],
    env: { BASE_REVISION: EMPTY_TREE },
    says: [/@outreach\/cursor changed .* without a changeset/, /names @outreach\/seeded/],
  },
  "every-sentence-of-the-specification-has-a-test-that-ran": {
    replace: [["docs/conformance.yaml", "sentence: Bodies are JSON.", "sentence: Bodies are XML."]],
    append: {
      "seeded.json": JSON.stringify({
        testResults: [
          {
            name: "apps/api/test/conformance/resources.test.ts",
            assertionResults: [
              { ancestorTitles: ["every body is JSON"], title: "of a resource and of an error", status: "failed" },
            ],
          },
        ],
      }),
    },
    env: { TEST_REPORT: "seeded.json" },
    says: [/names a test that did not run/, /lacks(?:, adds or changes)? a sentence/],
  },
  "every-typescript-file-is-checked": {
    append: { "packages/cursor/seeded.ts": "" },
    says: [/packages\/cursor\/seeded\.ts is not checked/],
  },
  "folders-of-the-domain-form-no-cycle": {
    append: {
      "packages/domain/src/seeded/one.ts": 'import "../seededToo/other.ts"\n',
      "packages/domain/src/seededToo/other.ts": 'import "../seeded/one.ts"\n',
    },
    says: [/seeded → seededToo → seeded|seededToo → seeded → seededToo/],
  },
  "modules-have-no-mutable-state": {
    append: { "packages/domain/src/seeded.ts": "export const seen = new Map<string, number>()\n" },
    says: [/packages\/domain\/src\/seeded\.ts: seen/],
  },
  "generated-pages-are-current": {
    replace: [["docs/settings.md", "| `PUBLIC_BASE_URL` |", "| `SEEDED` |"]],
    says: [/docs\/settings\.md is not current/],
  },
  "leaves-are-pure": {
    append: { "packages/rate-limit/src/seeded.ts": 'import "node:fs"\nexport const now = () => Date.now()\n' },
    says: [/seeded\.ts:1 /, /seeded\.ts:2 /],
  },
  "limited-updates-choose-their-rows-once": {
    append: {
      "packages/postgres/sql/functions/seeded.sql": "delete from a where id in (select id from a limit 7);\n",
      "packages/postgres/src/seeded.ts": "sql`delete from a where id in (select id from a limit 7)`\n",
    },
    says: [/seeded\.sql:1 may apply/, /seeded\.ts:1 may apply/],
  },
  "prose-is-plain": {
    append: { "packages/cursor/src/dialect.ts": "// What nobody says stands alone beside others.\n".repeat(9) },
    says: [/cursor\/src\/dialect\.ts has 63 rare words in 63/],
  },
  "public-surface-is-committed": {
    append: { "packages/cursor/api.d.ts": "export {}\n" },
    says: [/packages\/cursor\/api\.d\.ts differs/],
  },
  "readme-links-work-on-a-registry-page": {
    append: {
      "packages/cursor/README.md":
        "\n[a](docs/x.md) [b](#seeded) [c](https://www.npmjs.com/package/@outreach/seeded)\n",
    },
    says: [/docs\/x\.md, which is not absolute/, /#seeded, which has no such/, /seeded, which is not a package/],
  },
  "tarballs-hold-what-their-readers-need-and-no-more": {
    replace: [["packages/error-catalog/package.json", '"files": [', '"files": [\n    "src",']],
    append: { "packages/error-catalog/dist/seeded.js": 'import "fs"\n' },
    args: ["@outreach/error-catalog"],
    says: [/error-catalog carries src/, /without node: in dist\/seeded\.js/, /dist\/seeded\.js has no source map/],
  },
  "the-deployment-files-are-valid": {
    replace: [
      ["deploy/compose.yaml", "  SECRETS_KEY: ", "  SEEDED_SETTING: x\n  SECRETS_KEY: "],
      ["deploy/kubernetes/alerts.yaml", "runbook: docs/on-call.md#", "runbook: docs/on-call.md#seeded-"],
    ],
    says: [/deploy\/ names the setting SEEDED_SETTING/, /#seeded-\S+ of \w+ does not start with/],
  },
  "the-partner-quick-start-works-as-written": {
    append: { "run.js": "\nprocess.exit(3)\n" },
    says: [/npm start ended/],
    isSlow: true,
  },
  "the-recipe-for-an-operation-works-as-written": {
    replace: [["docs/recipes.md", "input: { name: required(name) }", "input: { name }"]],
    says: [/The recipe does not compile:/, /operations\/programs\.ts.*error/],
    isSlow: true,
  },
  "the-release-asks-for-a-provenance": {
    replace: [[".github/workflows/release.yml", 'PNPM_CONFIG_PROVENANCE: "true"', 'PNPM_CONFIG_PROVENANCE: "false"']],
    says: [/asks for no identity/],
  },
  "the-workflows-run-what-runs-here": {
    replace: [
      [".github/workflows/ci.yml", "permissions:\n  contents: read", "permissions:\n  contents: write"],
      [".github/workflows/nightly.yml", "leg: not-root", "leg: test"],
      [".github/workflows/release.yml", "needs: [ci, nightly]", "needs: ci"],
      [".github/workflows/ci.yml", "    steps:\n", "    steps:\n      - uses: actions/seeded@v1\n"],
    ],
    says: [
      /lets every job write contents/,
      /nightly\.yml doesn't run bash \.ci\/leg not-root/,
      /job build doesn't need/,
      /actions\/seeded@v1 is not named/,
    ],
  },
  "the-repository-stays-within-its-budget": {
    replace: [[".ci/budget.json", '"sql_functions":', '"sql_functions": 1,\n  "seeded":']],
    says: [/sql_functions: \d+, and \.ci\/budget\.json allows 1\./, /disagree about seeded/],
  },
  "the-sandbox-installs-at-most-150-MiB": {
    args: ["--limit", "1"],
    says: [/npm start installs [\d.]+ MiB, more than 1\./],
  },
  "the-webhook-verifier-weighs-under-3-KB-and-stands-alone": {
    append: {
      "packages/webhook-verifier/dist/index.js": `\nexport const seeded = "${Array.from({ length: 3000 }, (_, i) => ((i * i * 7919) % 9973).toString(36)).join("")}"\n`,
    },
    says: [/The core weighs \d+ bytes/],
    isSlow: true,
  },
}
