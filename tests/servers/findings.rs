//! What is said about servers that could lose rooms.

use anyhow::{Result, ensure};
use vestibule_tests::{Deployment, Flavor, Node, Service, eventually};

use crate::SOON;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_could_lose_rooms_is_told_of() -> Result<()> {
    let careless = ["maxmemory 100mb", "maxmemory-policy allkeys-lru", "save \"\""];
    let node = Node::start(Flavor::Redis7, None, &careless.map(str::to_owned)).await?;
    let deployment = Deployment::builder()
        .over(&format!("redis://{}", node.address()))
        .environment("VESTIBULE_REDIS_WAIT_REPLICAS", "1")
        .start()
        .await?;
    for service in [Service::Admission, Service::Controller] {
        eventually(SOON, "all findings", || async {
            let metrics = deployment.admin(service, 0, "/metrics").await?.expect(200)?.text;
            for name in ["evicts", "few_replicas", "not_persistent"] {
                let line = format!("vestibule_redis_findings{{finding=\"{name}\"}} 1\n");
                ensure!(metrics.contains(&line), "no {name}");
            }
            Ok(())
        })
        .await?;
        let log = deployment.process(service, 0).log();
        let told = log.lines().filter(|line| line.contains("maxmemory-policy to noeviction"));
        assert_eq!(told.count(), 1, "once: {log}");
    }
    Ok(())
}
