//! Random programs of store calls on the model of Redis and on a real server, side by side at one
//! time: every answer, everything published and all that is left must be alike.
//!
//! A program is a list of numbers, each of which makes one call by chance, so a shorter program is a
//! part of the list. With `VESTIBULE_TEST_PROGRAMS` in the environment, so many programs are run.

mod calls;
mod keyspace;
mod pair;
mod program;
mod pushes;
mod random;

macro_rules! against {
    ($name:ident, $flavor:ident) => {
        mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn random_programs_of_calls_have_the_same_answers_on_the_model() {
                let flavor = vestibule_tests::Flavor::$flavor;
                if !flavor.is_left_out() {
                    super::program::compare(flavor, vestibule_redis_model::Dialect::$flavor).await;
                }
            }
        }
    };
}

against!(redis7, Redis7);
against!(valkey9, Valkey9);
