import { formatCapped } from "@outreach/backoffice/format"
import type { ValuesOf } from "@outreach/backoffice/operations/Field"
import {
  createSuppression,
  removeSuppression,
  type scope,
  suppressions,
} from "@outreach/backoffice/operations/suppressions"
import { SuppressionReader } from "@outreach/backoffice/suppressions/SuppressionReader"
import { mayActAs } from "@outreach/domain/operators/Operator"
import { Missing } from "../../components/FormLink.tsx"
import { ActionForm } from "../../components/forms.tsx"
import { Section, Table, withQuery } from "../../components/layout.tsx"
import { listPage } from "../../http/listPage.tsx"
import { operationAction } from "../../http/operationRoutes.tsx"

const options = {
  omit: ["id"],
  requires: ["reason"],
  to: ({ organizationId: organization, programId: program }: ValuesOf<typeof scope>) =>
    withQuery("/suppressions", { organization, program }),
} as const
const addSuppression = operationAction("/suppressions/add", createSuppression, options)
const liftSuppression = operationAction("/suppressions/lift", removeSuppression, options)

/** The row of a suppression determines these inputs. */
const NOT_CHOSEN = { organization: false, program: false, npi: false, email: false } as const

const suppressionPages = listPage("/suppressions", suppressions, {
  showLabel: "Show NPIs and addresses, to lift one",
  *around({ filter: { organizationId, programId }, objects, isShown, context }) {
    const counts = organizationId === undefined ? [] : yield* (yield* SuppressionReader).count(organizationId)
    const program = programId ?? "pgm_…"
    const form = {
      hidden: { organization: organizationId },
      controls: { program: { value: programId, options: objects.byField["programId"] ?? [] } },
    }
    return {
      commands: [
        ["suppressions create", { program, npi: "…", reason: "…" }],
        ["suppressions remove", { program, email: "…", reason: "…" }],
        ["suppressions import", "clinicians.csv", { program }],
        ["suppressions export", { organization: organizationId ?? "org_…", out: "suppressions.csv" }],
      ],
      above: (
        <Table
          title="Scopes"
          label="Entries per scope"
          rows={counts}
          columns={{
            Scope: ({ programId, name }) => (programId === null ? `The whole organization, ${name}` : name),
            Entries: {
              number: ({ organizationId: organization, programId: program, count }) => {
                const scope = program === null ? "organization" : "program"
                const to = withQuery("/suppressions", { organization, program: program ?? undefined, scope })
                return { to, name: formatCapped(count) }
              },
            },
          }}
        />
      ),
      actions: {
        Lift:
          isShown &&
          (({ organizationId, programId, kind, value }) => (
            <ActionForm
              action={liftSuppression}
              hidden={{ [kind]: value, ...(programId ? { program: programId } : { organization: organizationId }) }}
              controls={{ ...NOT_CHOSEN, reason: { size: 20, hint: undefined } }}
            />
          )),
      },
      below:
        mayActAs(context.operator.role, "operator") &&
        (organizationId === undefined ? (
          <p id="add">
            <Missing command={objects.byField["organizationId"]?.length === 0 ? "organizations create" : null}>
              Choose an organization to add or lift a suppression.
            </Missing>
          </p>
        ) : (
          <>
            <Section title="Add a suppression" id="add">
              <ActionForm action={addSuppression} {...form} />
            </Section>
            <Section title="Lift a suppression">
              <p>This also lifts a suppression of the whole organization.</p>
              <ActionForm action={liftSuppression} {...form} />
            </Section>
          </>
        )),
    }
  },
})

export const suppressionRoutes = [...suppressionPages, addSuppression, liftSuppression] as const
