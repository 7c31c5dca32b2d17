import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { describeRemoval } from "@outreach/domain/deliveries/describeRemoval"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { removeEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { Effect } from "effect"
import { ActionForm } from "../../components/forms.tsx"
import { LinkLine, Page } from "../../components/layout.tsx"
import { ForeignText } from "../../components/values.tsx"
import { defineAction, definePage } from "../../http/Route.ts"
import { assertTyped, confirmBy, confirmFields } from "../partners/credentialForms.tsx"

const path = "/endpoints/:endpoint/remove"

export const removeEndpointPage = definePage(path, {
  role: "admin",
  run: Effect.fnUntraced(function* ({ endpoint: id }) {
    const endpoint = yield* (yield* EndpointRepository).find(id)
    const { name } = yield* (yield* OrganizationReader).find(endpoint.organizationId)
    return (
      <Page title="Remove an endpoint" commands={[`ops endpoints remove ${id}`]}>
        <p>
          <ForeignText>{endpoint.url}</ForeignText>
        </p>
        <p class="problem">{describeRemoval(endpoint)} It cannot be brought back.</p>
        <p>
          Its own signing secrets are destroyed, its running replays end, and webhooks of the partner to it are answered
          as to an unknown endpoint.
        </p>
        <ActionForm
          action={remove}
          params={{ endpoint: id }}
          label="Remove it for good"
          isDangerous
          controls={confirmBy(name)}
        />
        <LinkLine to={`/endpoints/${id}`}>Back to the endpoint</LinkLine>
      </Page>
    )
  }),
})

const remove = defineAction(path, "endpoints remove", {
  role: "admin",
  inputs: confirmFields,
  run: Effect.fnUntraced(function* ({ endpoint: id, confirm }) {
    const { organizationId } = yield* (yield* EndpointRepository).find(id)
    const { name } = yield* (yield* OrganizationReader).find(organizationId)
    yield* assertTyped(confirm, name)
    yield* removeEndpoint(id)
    return { to: `/endpoints/${id}`, notice: "Removed. What waited is cancelled within seconds." }
  }),
})

export const removeEndpointRoutes = [removeEndpointPage, remove] as const
