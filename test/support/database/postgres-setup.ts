// Runs before all tests: with FLEETWARD_TEST_DATABASE=postgres one server for them, so that no test file starts its own.
import { postgresMissing, startPostgres } from './postgres.ts';

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env['FLEETWARD_TEST_DATABASE'] !== 'postgres') return undefined;
  if (postgresMissing !== null) throw new Error(postgresMissing);
  const server = await startPostgres();
  try {
    await server.drop(await server.createMigrated());
  } catch (thrown) {
    await server.close();
    throw thrown;
  }
  process.env['FLEETWARD_TEST_POSTGRES_FOLDER'] = server.folder;
  return () => server.close();
}
