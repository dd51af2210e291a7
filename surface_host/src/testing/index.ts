/** For tests of pages that use the host: an open shadow root and a gateway in memory. Never ship it to people. */

import { createHost } from '../host/create.js';
import type { HostPorts, SurfaceHost, SurfaceHostOptions } from '../host/options.js';
import { createFakeGateway, type FakeGateway, type FakeGatewayOptions } from './fake_gateway.js';

export { createFakeGateway, type FakeConnection, type FakeGateway, type FakeGatewayOptions, type FrameOf } from './fake_gateway.js';

export interface TestHost {
  readonly host: SurfaceHost;
  readonly gateway: FakeGateway;
}

export function createTestHost(options: Partial<SurfaceHostOptions> = {}, gatewayOptions: FakeGatewayOptions = {}): TestHost {
  const gateway = createFakeGateway(gatewayOptions);
  const host = createHost(
    { gateway: 'https://gateway.example', site: 'test', getTicket: () => Promise.resolve('ticket'), ...options },
    { shadow: 'open', openSocket: gateway.openSocket },
  );
  return { host, gateway };
}

/** A host on a real gateway whose dialog and badge a browser test can look into; `onPanel` shows what is for the panel. */
export function createOpenHost(options: SurfaceHostOptions, onPanel?: HostPorts['onPanel']): SurfaceHost {
  return createHost(options, { shadow: 'open', ...(onPanel && { onPanel }) });
}
