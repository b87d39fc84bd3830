int dl_sim_empty; 
