/** The public shape of the host. */

import type { ActivityFrame, Rejected } from '../protocol/frames.js';
import type { PanelFrame, PanelNewsFrame } from '../protocol/panel.js';
import type { Capability, ContextSource } from '../core/index.js';
import type { Socket } from '../channel/channel.js';
import type { Status } from '../channel/status.js';
import type { MiniApp } from '../apps/index.js';
import type { WorkspaceMessages } from '../apps/messages.js';
import type { Messages } from '../ui/messages.js';
import type { PackMessages } from '../pack/messages.js';
import type { AppsModule } from './apps.js';

export interface SurfaceHostOptions {
  /** Where the gateway is, for example `https://gateway.example`. */
  readonly gateway: string;
  /** The site's id in the gateway's configuration. */
  readonly site: string;
  /** Asks the site's own backend for a fresh ticket; called for each connection. */
  readonly getTicket: () => Promise<string>;
  /** `en` and `zh` are built in; by default the document's language decides. */
  readonly lang?: string;
  /** Replaces single words of the host; never the page's or an agent's. */
  readonly messages?: Partial<Messages & WorkspaceMessages & PackMessages>;
  /** `false` hides the badge unless something waits for the person. */
  readonly badge?: boolean;
  /** `false`: mini apps are not shown in this page. */
  readonly workspace?: boolean;
  /** A name for this page in the badge. */
  readonly label?: string;
}

/** How the UI is found. */
export type UiModule = Pick<typeof import('../ui/index.js'), 'createUi'>;

/** How what does the work of the host's own capabilities is found. */
export type PackModule = Pick<typeof import('../pack/index.js'), 'createPack'>;

/** What only the one-script form and tests hand in. */
export interface HostPorts {
  readonly shadow?: ShadowRootMode;
  readonly openSocket?: (url: string) => Socket;
  /** Where the dialog and the badge come from; by default the module beside this one. */
  readonly loadUi?: () => Promise<UiModule>;
  /** Where the workspace comes from; by default the module beside this one. */
  readonly loadApps?: () => Promise<AppsModule>;
  /** Who shows what agents say and ask in the panel; it answers by `send`. */
  readonly onPanel?: (frame: PanelFrame, send: (frame: PanelNewsFrame) => boolean) => void;
  /** Where the host's own capabilities come from; by default the module beside this one. */
  readonly loadPack?: () => Promise<PackModule>;
}

export interface HostEvents {
  readonly status: Status;
  /** Declarations the gateway did not take; the others are unaffected. */
  readonly rejected: readonly Rejected[];
  /** The gateway refused a frame of this page, or one could not be sent. */
  readonly error: { readonly code: string; readonly message?: string };
  readonly activity: ActivityFrame;
  /** The mini apps of this page, after every change. */
  readonly apps: readonly MiniApp[];
}

export interface SurfaceHost {
  /**
   * Offers one business action. The newest registration of an id answers;
   * disposing an older one changes nothing.
   */
  register<Input = unknown, Output = unknown>(capability: Capability<Input, Output>, options?: { readonly signal?: AbortSignal }): () => void;
  /** The records agents may read, or how to get them. */
  setContext(context: ContextSource): void;
  /** A line for an in-page client; throws unless the gateway allows one on this site. */
  openSurface(): MessagePort;
  readonly status: Status;
  on<E extends keyof HostEvents>(event: E, listener: (detail: HostEvents[E]) => void): () => void;
  close(): void;
}
