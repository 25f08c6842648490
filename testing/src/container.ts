import { AbstractStartedContainer, GenericContainer, type StartedTestContainer, Wait } from 'testcontainers';
import type { JobName } from './job-name.ts';
import { createWorkspace, runJobs, type Workspace } from './workspace.ts';

const port = 3000;
/** The name of this machine in the container. */
const receiverHost = 'host.docker.internal';

/**
 * A container with a server for tests, from the stage `standalone` of the Dockerfile. The server calls webhooks on this
 * machine at `host.docker.internal`.
 */
export class ItsmContainer extends GenericContainer {
  readonly #arguments: string[] = [];

  constructor(image: string) {
    super(image);
    this.withExposedPorts(port)
      .withExtraHosts([{ host: receiverHost, ipAddress: 'host-gateway' }])
      .withWaitStrategy(Wait.forHttp('/readyz', port));
  }

  /** Limits the number of requests per API key and minute. By default, there is no limit. */
  withRateLimits(): this {
    return this.#withArgument('--rate-limits');
  }

  /** Sets the delays between the attempts of a webhook delivery, in milliseconds, like `retrySchedule` of `startItsm`. */
  withRetrySchedule(delays: readonly number[]): this {
    return this.#withArgument(`--retry-schedule=${delays.join(',')}`);
  }

  #withArgument(argument: string): this {
    this.#arguments.push(argument);
    return this.withCommand(this.#arguments);
  }

  override async start(): Promise<StartedItsmContainer> {
    return new StartedItsmContainer(await super.start());
  }
}

export class StartedItsmContainer extends AbstractStartedContainer {
  /** The origin of the server. */
  readonly url: string;

  constructor(container: StartedTestContainer) {
    super(container);
    this.url = `http://${container.getHost()}:${container.getMappedPort(port)}`;
  }

  /** Creates an empty workspace. The workspaces of a server can't access each other. */
  createWorkspace(): Promise<Workspace> {
    return createWorkspace(this.url, receiverHost);
  }

  /**
   * Runs a scheduled job now, for all workspaces, and resolves when it has ended.
   * @param name the name of a job, or `retention` for all jobs that delete old rows
   */
  runJobs(name: JobName): Promise<void> {
    return runJobs(this.url, name);
  }
}
