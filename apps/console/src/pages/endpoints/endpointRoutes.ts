import {
  disableEndpointAction,
  enableEndpointAction,
  replayLogAction,
  showAddressAction,
  testEndpointAction,
  updateEndpointAction,
} from "./endpointActions.tsx"
import { endpointPage } from "./endpointPage.tsx"
import { endpointsPage } from "./endpointsPage.tsx"
import { replayLogPage } from "./replayLogPage.tsx"

/** The pages of endpoints, and what is done there. */
export const endpointRoutes = [
  endpointsPage,
  endpointPage,
  replayLogPage,
  showAddressAction,
  testEndpointAction,
  updateEndpointAction,
  disableEndpointAction,
  enableEndpointAction,
  replayLogAction,
] as const
