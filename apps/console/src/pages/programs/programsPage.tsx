import { programs } from "@outreach/backoffice/lists/programs"
import { ConfirmLink } from "../../components/forms.tsx"
import { listPage } from "../../http/listPage.tsx"
import { ComplaintRate } from "../campaigns/ComplaintRate.tsx"
import { newProgramPage } from "../newPages.tsx"

export const programsRoutes = listPage("/programs", programs, {
  cells: { complained: (program) => <ComplaintRate {...program} /> },
  around: ({ filter: { organizationId: organization } }) => ({
    above: <ConfirmLink page={newProgramPage} query={{ organization }} label="Add a program" isPrimary />,
  }),
})
