import { routedInConsole } from '../platform/accounts/session.ts'
import type { Areas } from '../platform/http/areas.ts'
import type { Endpoint } from '../platform/http/endpoint.ts'
import { consoleAreas } from '../tools/console/area.ts'
import { consoleRoutes } from '../tools/console/pages.ts'
import type { ToolContext } from '../tools/context.ts'
import { controlEndpoints } from '../tools/control/routes.ts'
import { createWaits } from '../tools/control/wait.ts'
import { controlDescription } from './docs/routes.ts'

/** Everything below the prefixes that app.ts names. It is loaded for the first request to one of them. */
export function createTools(
  context: ToolContext,
  service: { areas: Areas; operations: readonly Endpoint[]; stopped: () => boolean },
) {
  const { config } = context
  const waits = createWaits(context, service.stopped)
  const control = controlEndpoints({ ...context, ...service, ...waits })
  if (control.length > 0) control.push(controlDescription(context, () => control))
  return {
    routes: [...control, ...consoleRoutes(context, service.operations)],
    areas: { ...service.areas, ...(config.console && consoleAreas(context)) },
    routedAs: routedInConsole,
  }
}
