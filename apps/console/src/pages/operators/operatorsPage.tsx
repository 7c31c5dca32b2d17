import { operators } from "@outreach/backoffice/lists/operators"
import { createOperator } from "@outreach/backoffice/operations/operators"
import { ActionForm, Disclosure } from "../../components/forms.tsx"
import { ops } from "../../components/ops.ts"
import { optionsOf } from "../../http/listObjects.ts"
import { listPage } from "../../http/listPage.tsx"
import { operationAction } from "../../http/operationRoutes.tsx"

const addAction = operationAction("/operators", createOperator)

const operatorsPages = listPage("/operators", operators, {
  around: ({ objects }) => ({
    commands: [ops("operators create", { name: "…", role: "viewer" })],
    above: (
      <Disclosure action={addAction} title="Add an operator">
        <ActionForm action={addAction} controls={optionsOf(objects)} />
      </Disclosure>
    ),
  }),
})

export const operatorsRoutes = [...operatorsPages, addAction] as const
